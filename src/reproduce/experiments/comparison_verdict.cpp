#include "reproduce/experiments/comparison_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reproduce/wording.h"

namespace edelta::reproduce {
namespace {

enum class Order { better, same, worse };

Order against(const Statistics& one, const Statistics& other, bool less_is_better) {
  if (std::abs(one.mean - other.mean) <= one.std + other.std) return Order::same;
  return (one.mean < other.mean) == less_is_better ? Order::better : Order::worse;
}

}  // namespace

std::string comparison_verdict(const std::vector<ComparedModel>& models, const ComparedRoles& roles,
                               const ComparedResult& compared) {
  const bool enough = std::all_of(models.begin(), models.end(),
                                  [](const ComparedModel& each) { return each.result.n >= 2; });
  if (!enough) return "A verdict needs at least two seeds of every model.";
  const auto result_of = [&](const std::string& label) {
    return std::find_if(models.begin(), models.end(),
                        [&](const ComparedModel& each) { return each.label == label; })
        ->result;
  };
  const auto number = [&](double value) { return fmt::format("{:.{}f}", value, compared.digits); };
  const auto order = [&](const Statistics& one, const Statistics& other) {
    return against(one, other, compared.less_is_better);
  };
  const Statistics first = result_of(roles.plain);
  // "jpmhc (−0.021) and edelta (−0.010)"
  const auto those = [&](Order wanted) {
    std::vector<std::string> items;
    for (const ComparedModel& each : models) {
      if (each.label == roles.plain || order(each.result, first) != wanted) continue;
      const double difference = each.result.mean - first.mean;
      items.push_back(fmt::format("{} ({}{})", each.label, difference < 0 ? "−" : "+",
                                  number(std::abs(difference))));
    }
    return listed(items);
  };
  const std::string better = those(Order::better), same = those(Order::same),
                    worse = those(Order::worse);
  std::string text =
      fmt::format("Against {} ({}{}), {} with {}", roles.plain, number(first.mean), compared.unit,
                  better.empty() ? "nothing ends" : fmt::format("{} end", better), compared.better);
  if (!worse.empty()) text += fmt::format(", {} with {}", worse, compared.worse);
  if (!same.empty()) text += fmt::format("; not told apart from it: {}", same);
  text += fmt::format(
      ". Means over {} seeds count as different where they are further apart than the sum of their "
      "standard deviations.",
      first.n);
  const Statistics with = result_of(roles.hybrid), without = result_of(roles.control);
  const Order found = order(with, without);
  return text + fmt::format(
                    " {} ends at {}{}, the same model without its operator at {}{}: {}, the "
                    "operator {}.",
                    roles.hybrid, number(with.mean), compared.unit, number(without.mean),
                    compared.unit, compared.where,
                    found == Order::better ? "helps"
                    : found == Order::same ? "makes no difference that these seeds show"
                                           : "harms");
}

}  // namespace edelta::reproduce
