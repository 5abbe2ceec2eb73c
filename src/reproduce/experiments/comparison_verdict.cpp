#include "reproduce/experiments/comparison_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reproduce/training_tables.h"
#include "reproduce/wording.h"

namespace edelta::reproduce {
namespace {

enum class Order { lower, same, higher };

Order against(const Statistics& loss, const Statistics& other) {
  if (std::abs(loss.mean - other.mean) <= loss.std + other.std) return Order::same;
  return loss.mean < other.mean ? Order::lower : Order::higher;
}

}  // namespace

std::string comparison_verdict(const std::vector<ComparedModel>& models, const ComparedRoles& roles,
                               const std::string& where) {
  const bool enough = std::all_of(models.begin(), models.end(),
                                  [](const ComparedModel& each) { return each.loss.n >= 2; });
  if (!enough) return "A verdict needs at least two seeds of every model.";
  const auto loss_of = [&](const std::string& label) {
    return std::find_if(models.begin(), models.end(),
                        [&](const ComparedModel& each) { return each.label == label; })
        ->loss;
  };
  const Statistics first = loss_of(roles.plain);
  // "jpmhc (−0.021) and edelta (−0.010)"
  const auto those = [&](Order order) {
    std::vector<std::string> items;
    for (const ComparedModel& each : models) {
      if (each.label == roles.plain || against(each.loss, first) != order) continue;
      const double difference = each.loss.mean - first.mean;
      items.push_back(fmt::format("{} ({}{:.3f})", each.label, difference < 0 ? "−" : "+",
                                  std::abs(difference)));
    }
    return listed(items);
  };
  const std::string lower = those(Order::lower), same = those(Order::same),
                    higher = those(Order::higher);
  std::string text =
      fmt::format("Against {} ({:.3f}), {} with a lower loss", roles.plain, first.mean,
                  lower.empty() ? "nothing ends" : fmt::format("{} end", lower));
  if (!higher.empty()) text += fmt::format(", {} with a higher one", higher);
  if (!same.empty()) text += fmt::format("; not told apart from it: {}", same);
  text += fmt::format(
      ". Means over {} seeds count as different where they are further apart than the sum of their "
      "standard deviations.",
      first.n);
  for (const Controlled& each : roles.controlled) {
    const Statistics with = loss_of(each.model), without = loss_of(each.control);
    const Order order = against(with, without);
    text += fmt::format(
        " {} ends at {:.3f}, the same model without its operator at {:.3f}: {}, the operator {}.",
        each.model, with.mean, without.mean, where,
        order == Order::lower  ? "helps"
        : order == Order::same ? "makes no difference that these seeds show"
                               : "harms");
  }
  return text;
}

std::string comparison_verdict(RunArchive& archive, const TrainingTable& table,
                               const ComparedRoles& roles, const std::string& where) {
  std::vector<ComparedModel> models;
  for (const Variant& variant : table.variants) {
    const auto loss = statistics(final_losses(archive.finished(table, variant)));
    models.push_back({variant.label, loss.value_or(Statistics())});
  }
  return comparison_verdict(models, roles, where);
}

}  // namespace edelta::reproduce
