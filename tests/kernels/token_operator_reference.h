// Plain float64 versions of the operators that a token computes from its logits.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace edelta::kernels {

using Values = std::vector<double>;

inline Values iterative_cayley(const Values& z, int64_t n, double alpha, int64_t iterations) {
  Values w(n * n), y(n * n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      w[i * n + j] = z[i * n + j] - z[j * n + i];
      y[i * n + j] = (i == j ? 1 : 0) + alpha * w[i * n + j];
    }
  }
  for (int64_t k = 0; k < iterations; ++k) {
    Values next(n * n);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        next[i * n + j] = i == j ? 1 : 0;
        for (int64_t m = 0; m < n; ++m) {
          next[i * n + j] += alpha / 2 * w[i * n + m] * ((m == j ? 1 : 0) + y[m * n + j]);
        }
      }
    }
    y = next;
  }
  return y;
}

// factor·Σ over lines of the softmax of each line.
inline Values mixer(const Values& z, int64_t n, int64_t line, int64_t entry, double factor) {
  Values weights(n);
  for (int64_t i = 0; i < n; ++i) {
    double total = 0;
    for (int64_t k = 0; k < n; ++k) total += std::exp(z[i * line + k * entry]);
    for (int64_t k = 0; k < n; ++k)
      weights[k] += factor * std::exp(z[i * line + k * entry]) / total;
  }
  return weights;
}

}  // namespace edelta::kernels
