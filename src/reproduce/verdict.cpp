#include "reproduce/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace edelta::reproduce {
namespace {

// From the least to the most favourable; those that say nothing about the paper come first.
constexpr std::array kVerdicts{"not run", "partly run", "does not hold",
                               "holds in order but not in size", "holds"};
constexpr const char* kNotCompared = "not compared";

double spread(const PaperValue& paper, const Tolerance& tolerance) {
  if (tolerance.absolute) return std::max(paper.std.value_or(0), tolerance.own_spread);
  return paper.std.value_or(tolerance.own_spread * std::abs(paper.mean));
}

bool right_size(const ComparedRow& row, const Tolerance& tolerance) {
  if (tolerance.absolute) return std::abs(*row.ours - row.paper.mean) <= tolerance.size;
  const double ratio = *row.ours / row.paper.mean;
  return ratio <= tolerance.size && ratio >= 1 / tolerance.size;
}

std::string number(double value) {
  const double size = std::abs(value);
  return size != 0 && size < 1e-2 ? fmt::format("{:.2e}", value) : fmt::format("{:.3g}", value);
}

// How far all rows are from the paper.
std::string sizes(const std::vector<ComparedRow>& rows, const Tolerance& tolerance) {
  const auto distance = [&](const ComparedRow& row) {
    return tolerance.absolute ? std::abs(*row.ours - row.paper.mean) : *row.ours / row.paper.mean;
  };
  const auto [least, most] =
      std::minmax_element(rows.begin(), rows.end(),
                          [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  if (tolerance.absolute) {
    return fmt::format("the largest distance from the paper is {:.3f} ({})", distance(*most),
                       most->label);
  }
  return fmt::format("ours / paper from {:.2g} ({}) to {:.2g} ({})", distance(*least), least->label,
                     distance(*most), most->label);
}

struct Order {
  int64_t separated = 0;  // pairs that the paper's numbers tell apart
  std::vector<std::string> reversed;
};

Order compare_order(const std::vector<ComparedRow>& rows, const Tolerance& tolerance) {
  Order order;
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = i + 1; j < rows.size(); ++j) {
      const ComparedRow &a = rows[i], &b = rows[j];
      const double difference = a.paper.mean - b.paper.mean;
      if (std::abs(difference) <= spread(a.paper, tolerance) + spread(b.paper, tolerance)) continue;
      ++order.separated;
      if ((*a.ours - *b.ours) * difference > 0) continue;
      order.reversed.push_back(fmt::format("{} {} against {} {} (paper: {}, {})", a.label,
                                           number(*a.ours), b.label, number(*b.ours),
                                           number(a.paper.mean), number(b.paper.mean)));
    }
  }
  return order;
}

}  // namespace

Verdict judge(const std::vector<ComparedRow>& rows, const Tolerance& tolerance) {
  std::vector<ComparedRow> measured;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(measured),
               [](const ComparedRow& row) { return row.ours.has_value(); });
  if (measured.empty() || measured.size() < rows.size()) {
    std::string reason = fmt::format("{} of {} rows that the paper has are not measured",
                                     rows.size() - measured.size(), rows.size());
    if (measured.size() > 1) reason += "; of the others, " + judge(measured, tolerance).reason;
    return {kVerdicts[measured.empty() ? 0 : 1], reason};
  }
  const Order order = compare_order(rows, tolerance);
  if (!order.reversed.empty()) {
    return {kVerdicts[2],
            fmt::format("{} of the {} pairs that the paper separates are not in its order: {}",
                        order.reversed.size(), order.separated, fmt::join(order.reversed, "; "))};
  }
  const bool fits = std::all_of(rows.begin(), rows.end(),
                                [&](const auto& row) { return right_size(row, tolerance); });
  if (order.separated == 0) {
    return {kVerdicts[fits ? 4 : 2],
            fmt::format("the paper separates no pair, so the size decides: {}",
                        sizes(rows, tolerance))};
  }
  const std::string pairs =
      order.separated == 1
          ? "the one pair that the paper separates is in its order"
          : fmt::format("all {} pairs that the paper separates are in its order", order.separated);
  return {kVerdicts[fits ? 4 : 3], pairs + "; " + sizes(rows, tolerance)};
}

Verdict not_comparable() {
  return not_comparable(
      "this preset's models and data are smaller than the paper's, so its losses neither "
      "confirm nor contradict the paper");
}

Verdict not_comparable(const std::string& reason) { return {kNotCompared, reason}; }

Verdict both(const Verdict& a, const Verdict& b) {
  const auto rank = [](const Verdict& verdict) {
    return std::find(kVerdicts.begin(), kVerdicts.end(), verdict.text) - kVerdicts.begin();
  };
  return {kVerdicts[static_cast<size_t>(std::min(rank(a), rank(b)))], a.reason + "; " + b.reason};
}

std::vector<std::string> verdict_rule() {
  return {
      "Only pairs of rows that the paper's own numbers separate are compared: their difference is "
      "more than the sum of their standard deviations. A value without one counts as ± 5 %.",
      "The order holds if the means over seeds (of the final validation loss, for trained models) "
      "have every such pair in the paper's order.",
      "The size holds if every row is within a factor of 2 of the paper's value.",
      "“Holds” means order and size, “holds in order but not in size” the order alone, “does not "
      "hold” that some pair is reversed, or, where the paper separates no pair, that the size does "
      "not hold; “partly run” that some rows which the paper has are not measured yet, “not run” "
      "that none is, “not compared” that the preset is too small for it.",
      "In the reflection probe, where the values lie between −1 and 2, distances stand for "
      "factors: 0.1 for β and γ, 0.15 for the alignment; rows count as separated when they are "
      "further apart than twice that.",
      "Theorems hold if every statement holds in its worst case; configurations if every number of "
      "parameters is the paper's exactly."};
}

}  // namespace edelta::reproduce
