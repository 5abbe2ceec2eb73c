// What the tests of the layer kernels share: random arrays, plain float64 versions of the parts of
// a layer, and the comparison against them.
#pragma once

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace edelta::kernels::testing_support {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

inline Floats random_floats(int64_t count, uint32_t seed, float scale = 1, float mean = 0) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(mean, scale);
  Floats values(count);
  for (float& value : values) value = normal(random);
  return values;
}

// Outputs start as NaN, so that an element which a kernel forgets can't pass.
inline Floats unset(int64_t count) { return Floats(count, std::nanf("")); }

inline float* pointer(Floats& values) { return values.empty() ? nullptr : values.data(); }
inline const float* pointer(const Floats& values) {
  return values.empty() ? nullptr : values.data();
}

inline void expect_close(const Floats& found, const Doubles& expected, double tolerance,
                         const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  double largest = 0;
  for (double value : expected) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], tolerance * std::max(largest, 1e-2)) << what << " at " << i;
  }
}

class ThreadCount {
 public:
  explicit ThreadCount(int threads) : before_(omp_get_max_threads()) {
    omp_set_num_threads(threads);
  }
  ~ThreadCount() { omp_set_num_threads(before_); }

 private:
  int before_;
};

inline Doubles widen(const Floats& values) { return {values.begin(), values.end()}; }

// y[n×m] = x[n×k]·Wᵀ + b, W[m×k], b may be empty.
inline Doubles linear(const Doubles& x, const Floats& weight, const Floats& bias, int64_t n,
                      int64_t k, int64_t m) {
  Doubles y(n * m);
  for (int64_t t = 0; t < n; ++t) {
    for (int64_t o = 0; o < m; ++o) {
      double sum = bias.empty() ? 0 : bias[o];
      for (int64_t i = 0; i < k; ++i) sum += x[t * k + i] * weight[o * k + i];
      y[t * m + o] = sum;
    }
  }
  return y;
}

struct LinearGradients {
  Doubles dx, dweight, dbias;
};

inline LinearGradients linear_gradients(const Doubles& dy, const Doubles& x, const Floats& weight,
                                        int64_t n, int64_t k, int64_t m) {
  LinearGradients g{Doubles(n * k), Doubles(m * k), Doubles(m)};
  for (int64_t t = 0; t < n; ++t) {
    for (int64_t o = 0; o < m; ++o) {
      const double d = dy[t * m + o];
      g.dbias[o] += d;
      for (int64_t i = 0; i < k; ++i) {
        g.dx[t * k + i] += d * weight[o * k + i];
        g.dweight[o * k + i] += d * x[t * k + i];
      }
    }
  }
  return g;
}

struct Normed {
  Doubles y, hat, rstd, mean;
};

// An empty weight stands for no layer norm.
inline Normed layer_norm(const Floats& x, const Floats& weight, const Floats& bias, int64_t n,
                         int64_t k, double eps) {
  Normed out{widen(x), widen(x), Doubles(n, 1), Doubles(n)};
  if (weight.empty()) return out;
  for (int64_t t = 0; t < n; ++t) {
    double mean = 0;
    double variance = 0;
    for (int64_t i = 0; i < k; ++i) mean += x[t * k + i];
    mean /= static_cast<double>(k);
    for (int64_t i = 0; i < k; ++i) variance += std::pow(x[t * k + i] - mean, 2);
    out.mean[t] = mean;
    out.rstd[t] = 1 / std::sqrt(variance / static_cast<double>(k) + eps);
    for (int64_t i = 0; i < k; ++i) {
      const double hat = (x[t * k + i] - mean) * out.rstd[t];
      out.hat[t * k + i] = hat;
      out.y[t * k + i] = hat * weight[i] + (bias.empty() ? 0 : bias[i]);
    }
  }
  return out;
}

struct NormGradients {
  Doubles dx, dweight, dbias;
};

inline NormGradients layer_norm_gradients(const Doubles& dy, const Normed& normed,
                                          const Floats& weight, int64_t n, int64_t k) {
  NormGradients g{dy, Doubles(k), Doubles(k)};
  if (weight.empty()) return g;
  for (int64_t t = 0; t < n; ++t) {
    double sum = 0;
    double along = 0;
    for (int64_t i = 0; i < k; ++i) {
      const double d = dy[t * k + i];
      const double hat = normed.hat[t * k + i];
      g.dweight[i] += d * hat;
      g.dbias[i] += d;
      sum += d * weight[i] / static_cast<double>(k);
      along += d * weight[i] * hat / static_cast<double>(k);
    }
    for (int64_t i = 0; i < k; ++i) {
      g.dx[t * k + i] =
          normed.rstd[t] * (dy[t * k + i] * weight[i] - sum - normed.hat[t * k + i] * along);
    }
  }
  return g;
}

inline void add_to(Doubles& sum, const Doubles& more) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
}

}  // namespace edelta::kernels::testing_support
