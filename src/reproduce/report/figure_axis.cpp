#include "reproduce/report/figure_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reproduce/report/number_text.h"

namespace edelta::reproduce::report {
namespace {

constexpr double kMarginShare = 0.045;  // of the axis, on either side

// Numbers of everyday size as they are, others with a power of ten.
std::string tic_label(double value, bool plain) {
  if (value < 0) return kMinus + tic_label(-value, plain);
  if (plain || value == 0) return fmt::format("{:.6g}", value);
  const int exponent = static_cast<int>(std::floor(std::log10(value) + 1e-9));
  const double mantissa = value / std::pow(10.0, exponent);
  const std::string power =
      fmt::format("10^{{{}{}}}", exponent < 0 ? kMinus : "", std::abs(exponent));
  return std::abs(mantissa - 1) < 1e-6 ? power : fmt::format("{:.3g}·{}", mantissa, power);
}

double nice_step(double span) {
  constexpr double kWantedTics = 5;
  const double raw = span / kWantedTics;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (raw <= factor * power * 1.0001) return factor * power;
  }
  return 10 * power;
}

std::vector<Tic> linear_tics(double low, double high) {
  const double largest = std::max(std::abs(low), std::abs(high));
  const bool plain = largest >= 1e-2 && largest < 1e5;
  const double step = nice_step(high - low);
  std::vector<Tic> tics;
  for (double i = std::ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i) {
    const double position = i * step + 0.0;  // never −0
    tics.push_back({position, tic_label(position, plain)});
  }
  return tics;
}

// Every power of ten, or every second, third... of many; of few also the mantissas 2 and 5.
std::vector<Tic> log_tics(double low, double high) {
  constexpr int kManyDecades = 7;
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  const double decades = std::log10(high / low);
  const int every = 1 + static_cast<int>(decades) / kManyDecades;
  const bool plain = low >= 0.009 && high < 2e4;
  const bool mantissas = decades < 2.2;
  std::vector<Tic> tics;
  int labelled = 0;
  for (int exponent = first; exponent <= last; ++exponent) {
    for (int mantissa = 1; mantissa < 10; ++mantissa) {
      const double position = mantissa * std::pow(10.0, exponent);
      if (position < low * (1 - 1e-9) || position > high * (1 + 1e-9)) continue;
      const bool label =
          mantissa == 1 ? exponent % every == 0 : mantissas && (mantissa == 2 || mantissa == 5);
      labelled += label;
      tics.push_back({position, label ? tic_label(position, plain) : ""});
    }
  }
  return labelled >= 2 ? tics : linear_tics(low, high);
}

Axis log_axis(double low, double high, Margin margin) {
  if (low > high) return {true, 0.1, 1, log_tics(0.1, 1)};
  // At least a quarter of a decade, or the tics would say nothing.
  const double missing = std::max(0.0, 0.25 - std::log10(high / low)) / 2;
  const double pad = missing + (margin == Margin::none ? 0 : kMarginShare * std::log10(high / low));
  // Bars grow from the bottom, which must not be the smallest bar's own height.
  const double ground = margin == Margin::ground ? 0.15 : 0;
  low *= std::pow(10.0, -pad - ground);
  high *= std::pow(10.0, pad);
  return {true, low, high, log_tics(low, high)};
}

Axis linear_axis(double low, double high, Margin margin) {
  if (low > high) return {false, 0, 1, linear_tics(0, 1)};
  // Iterations and positions count from 0, even if the first is not shown.
  if (margin == Margin::none && low > 0 && low < 0.05 * high) low = 0;
  const bool grounded = margin == Margin::ground && low >= 0;
  if (margin == Margin::ground) low = std::min(low, 0.0), high = std::max(high, 0.0);
  if (low == high) {
    const double room = low == 0 ? 1 : std::abs(low) / 2;
    low -= grounded ? 0 : room;
    high += room;
  }
  const double pad = margin == Margin::none ? 0 : kMarginShare * (high - low);
  low -= grounded ? 0 : pad;
  high += pad;
  return {false, low, high, linear_tics(low, high)};
}

}  // namespace

Axis fit_axis(const std::vector<double>& values, bool log, Margin margin) {
  double low = INFINITY, high = -INFINITY;
  for (const double value : values) {
    if (!std::isfinite(value) || (log && value <= 0)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return log ? log_axis(low, high, margin) : linear_axis(low, high, margin);
}

}  // namespace edelta::reproduce::report
