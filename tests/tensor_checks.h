// Random tensors and comparisons for tests.
#pragma once

#include "edelta/torch.h"

#include <algorithm>

namespace edelta::test {

using torch::Tensor;

// Standard normal numbers in float64 from torch's global generator: seed it first.
inline Tensor normal(at::IntArrayRef shape) { return torch::randn(shape, torch::kFloat64); }

inline double largest(const Tensor& a) {
  return a.numel() == 0 ? 0 : a.detach().to(torch::kFloat64).abs().max().item<double>();
}

// The largest |a − b|; NaN where there is one.
inline double difference(const Tensor& a, const Tensor& b) {
  return largest(a.detach().to(torch::kFloat64) - b.detach().to(torch::kFloat64));
}

inline double relative_difference(const Tensor& a, const Tensor& b) {
  return difference(a, b) / std::max(largest(b), 1e-300);
}

inline bool all_finite(const Tensor& a) { return a.isfinite().all().item<bool>(); }

inline Tensor identity_like(const Tensor& matrix) {
  return torch::eye(matrix.size(-1), matrix.options());
}

// ‖QᵀQ − I‖_max, evaluated in float64.
inline double orthogonality_error(const Tensor& q_in) {
  const Tensor q = q_in.detach().to(torch::kFloat64);
  return difference(q.transpose(-2, -1).matmul(q), identity_like(q));
}

}  // namespace edelta::test
