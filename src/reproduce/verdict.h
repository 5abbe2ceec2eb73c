// Does what was measured agree with the paper? By a rule that the report states.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reproduce/paper_value.h"

namespace edelta::reproduce {

struct ComparedRow {
  std::string label;
  PaperValue paper;
  std::optional<double> ours;  // absent: not measured
};

struct Verdict {
  std::string text;  // "holds", "holds in order but not in size", "does not hold", "partly run",
                     // "not run", "not compared"
  std::string reason;
};

// How far a number may be from the paper's, and how far apart two of the paper's must be to count
// as different.
struct Tolerance {
  bool absolute = false;
  double size = 2;           // a factor, or a distance
  double own_spread = 0.05;  // of a value that the paper gives without one: a share, or a distance
};
inline constexpr Tolerance kLossTolerance{};
inline constexpr Tolerance kAngleTolerance{true, 0.1, 0.1};  // β and γ
inline constexpr Tolerance kAlignmentTolerance{true, 0.15, 0.15};

Verdict judge(const std::vector<ComparedRow>& rows, const Tolerance& tolerance);
// For presets whose models and data are not the paper's.
Verdict not_comparable();
Verdict not_comparable(const std::string& reason);
// The less favourable of two, with both reasons.
Verdict both(const Verdict& a, const Verdict& b);

// The rule in words, a sentence each.
std::vector<std::string> verdict_rule();

}  // namespace edelta::reproduce
