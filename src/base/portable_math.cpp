#include "base/portable_math.h"

#include <cmath>

namespace edelta::base {

// x = m·2^e with m in [√½, √2): log x = e·ln 2 + 2 artanh(s), s = (m−1)/(m+1), |s| < 0.172, and
// artanh(s) = s (1 + s²/3 + s⁴/5 + …), whose 12th term is below 1e-18.
double portable_log(double x) {
  constexpr double kSqrtHalf = 0.70710678118654752440;
  constexpr double kLn2 = 0.69314718055994530942;
  int exponent;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < kSqrtHalf) {
    mantissa *= 2;
    --exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1);
  const double square = s * s;
  double series = 0;
  for (int term = 11; term >= 0; --term) series = series * square + 1.0 / (2 * term + 1);
  return exponent * kLn2 + 2 * s * series;
}

// x = r + k·π/2 with |r| ≤ π/4, then the Taylor series of sin and cos in nested form. π/2 is taken
// as a sum of two numbers, the first with 33 bits, so that k times it is exact.
SinCos portable_sincos(double x) {
  constexpr double kTwoOverPi = 0.63661977236758134308;
  constexpr double kHalfPiHigh = 1.57079632673412561417;
  constexpr double kHalfPiLow = 6.07710050650619224932e-11;
  const double quadrant = std::floor(x * kTwoOverPi + 0.5);
  const double r = (x - quadrant * kHalfPiHigh) - quadrant * kHalfPiLow;
  const double square = r * r;
  double sine = 1;
  double cosine = 1;
  for (int term = 9; term >= 1; --term) {
    sine = 1 - square / (2 * term * (2 * term + 1)) * sine;
    cosine = 1 - square / (2 * term * (2 * term - 1)) * cosine;
  }
  sine *= r;
  switch (static_cast<int>(quadrant) & 3) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

}  // namespace edelta::base
