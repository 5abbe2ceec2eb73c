// Numbers as the report prints them.
#pragma once

#include <cstdint>
#include <string>

namespace edelta::reproduce::report {

// A mean and how far it scatters, with as many digits as that justifies: 3.78 and 0.04, 8650 and
// 140, never fewer than three digits of the mean. Very small and very large numbers share a power
// of ten: (4.35 ± 0.27)×10⁻⁶ is value "(4.35", spread "0.27)×10⁻⁶".
struct NumberText {
  std::string value;
  std::string spread;  // may be empty

  std::string whole() const { return spread.empty() ? value : value + " ± " + spread; }
};

// Longer than a hyphen, which is no minus.
inline constexpr const char* kMinus = "−";

NumberText mean_text(double mean, double std);
std::string value_text(double value);        // three digits
std::string count_text(std::int64_t count);  // 1,787,688
std::string duration_text(double seconds);   // 3.2 s, 4 min 10 s, 3 h 26 min

// 10⁻³
std::string power_of_ten(int exponent);

}  // namespace edelta::reproduce::report
