#include "reproduce/experiments/language_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reproduce/wording.h"

namespace edelta::reproduce {
namespace {

enum class Order { lower, same, higher };

Order against(const Statistics& loss, const Statistics& other) {
  if (std::abs(loss.mean - other.mean) <= loss.std + other.std) return Order::same;
  return loss.mean < other.mean ? Order::lower : Order::higher;
}

}  // namespace

std::string language_verdict(const std::vector<LanguageLoss>& losses, const std::string& plain,
                             const std::string& hybrid, const std::string& control) {
  const bool enough = std::all_of(losses.begin(), losses.end(),
                                  [](const LanguageLoss& each) { return each.loss.n >= 2; });
  if (!enough) return "A verdict needs at least two seeds of every model.";
  const auto loss_of = [&](const std::string& label) {
    return std::find_if(losses.begin(), losses.end(),
                        [&](const LanguageLoss& each) { return each.label == label; })
        ->loss;
  };
  const Statistics first = loss_of(plain);
  // "jpmhc (−0.021) and edelta (−0.010)"
  const auto those = [&](Order order) {
    std::vector<std::string> items;
    for (const LanguageLoss& each : losses) {
      if (each.label == plain || against(each.loss, first) != order) continue;
      const double difference = each.loss.mean - first.mean;
      items.push_back(fmt::format("{} ({}{:.3f})", each.label, difference < 0 ? "−" : "+",
                                  std::abs(difference)));
    }
    return listed(items);
  };
  const std::string lower = those(Order::lower), same = those(Order::same),
                    higher = those(Order::higher);
  std::string text = fmt::format("Against {} ({:.3f}), {} with a lower loss", plain, first.mean,
                                 lower.empty() ? "nothing ends" : fmt::format("{} end", lower));
  if (!higher.empty()) text += fmt::format(", {} with a higher one", higher);
  if (!same.empty()) text += fmt::format("; not told apart from it: {}", same);
  text += fmt::format(
      ". Means over {} seeds count as different where they are further apart than the sum of their "
      "standard deviations.",
      first.n);
  const Statistics with = loss_of(hybrid), without = loss_of(control);
  const Order order = against(with, without);
  return text + fmt::format(
                    " {} ends at {:.3f}, the same model without its operator at {:.3f}: on "
                    "this text, at this size, the operator {}.",
                    hybrid, with.mean, without.mean,
                    order == Order::lower  ? "helps"
                    : order == Order::same ? "makes no difference that these seeds show"
                                           : "harms");
}

}  // namespace edelta::reproduce
