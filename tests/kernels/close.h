// Random inputs, and comparison of float32 results with a float64 reference.
#pragma once

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace edelta::kernels {

constexpr double kValueTolerance = 2e-5;
constexpr double kGradientTolerance = 2e-4;

inline std::vector<float> random_values(int64_t count, unsigned seed, float scale = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = scale * normal(random);
  return values;
}

inline std::vector<double> widen(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

// Filled with NaN, so that an entry that a kernel forgets shows.
inline std::vector<float> unwritten(int64_t count) {
  return std::vector<float>(count, std::numeric_limits<float>::quiet_NaN());
}

// The first place at a multiple of 64 bytes.
inline float* aligned(std::vector<float>& memory) {
  const auto beyond = reinterpret_cast<uintptr_t>(memory.data()) / sizeof(float) % 16;
  return memory.data() + (16 - beyond) % 16;
}

// Every entry within `tolerance`, relative to the largest of the reference (or to 1e-3 of a unit).
inline void expect_close(const std::vector<float>& values, const std::vector<double>& reference,
                         double tolerance, const std::string& what) {
  ASSERT_EQ(values.size(), reference.size()) << what;
  double largest = 1e-3;
  for (const double value : reference) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < values.size(); ++i) {
    // Negated, so that NaN fails.
    if (!(std::abs(values[i] - reference[i]) <= tolerance * largest)) {
      FAIL() << what << "[" << i << "] is " << values[i] << ", not " << reference[i] << " (largest "
             << largest << ")";
    }
  }
}

inline void expect_same_bits(const std::vector<float>& a, const std::vector<float>& b,
                             const std::string& what) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0) << what;
}

// Runs `check` with 1, 2 and 5 threads.
inline void with_threads(const std::function<void()>& check) {
  const int before = omp_get_max_threads();
  for (const int threads : {1, 2, 5}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    omp_set_num_threads(threads);
    check();
  }
  omp_set_num_threads(before);
}

// The gradient of Σ weight·f(x) by central differences.
inline std::vector<double> numeric_gradient(
    const std::function<std::vector<double>(const std::vector<double>&)>& f, std::vector<double> x,
    const std::vector<double>& weight) {
  constexpr double kStep = 1e-5;
  std::vector<double> gradient(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const double at = x[i];
    x[i] = at + kStep;
    const std::vector<double> above = f(x);
    x[i] = at - kStep;
    const std::vector<double> below = f(x);
    x[i] = at;
    for (size_t o = 0; o < above.size(); ++o) {
      gradient[i] += weight[o] * (above[o] - below[o]) / (2 * kStep);
    }
  }
  return gradient;
}

}  // namespace edelta::kernels
