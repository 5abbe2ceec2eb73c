// What the statements are measured on, and how a worst case is taken.
#pragma once

#include "edelta/torch.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "edelta/verify/theorems.h"

namespace edelta::verify {

struct RotationSamples {
  torch::Tensor u, v;  // [S, n]
  torch::Tensor beta;  // [S, 1]
  torch::Tensor area;  // |u||w| [S, 1], w the part of v orthogonal to u: tan(θ/2) = β·area/2
};

// S random operators of one size n, float64.
struct Samples {
  int64_t n;
  RotationSamples extreme;   // |u|, |v| over 36 decades, β over 24; parallel and zero vectors
  RotationSamples ordinary;  // tan(θ/2) in 1e-2…1e2, v well away from u: a solve is accurate
  torch::Tensor angle;       // [S, 1], ±θ, half of them within 1…1e-6 of π
  torch::Tensor k;           // [S, n] over 36 decades
  torch::Tensor x;           // [S, n, 1]
  torch::Tensor beta;        // [S, 1] in (0, 3), a Delta's
  torch::Tensor gamma;       // [S, 1] in (0, 1)
  torch::Tensor logits;      // [S, n, n] in (−1, 1)
};

struct SampleSet {
  std::vector<Samples> sizes;
  std::function<void(int64_t n)> on_size;  // told before a statement is measured on a size
};

SampleSet draw_samples(const TheoremOptions& options);

inline torch::Tensor identity(int64_t n) { return torch::eye(n, torch::kFloat64); }

// QᵀQ − I in float64.
inline torch::Tensor gram_defect(const torch::Tensor& q_in) {
  const torch::Tensor q = q_in.to(torch::kFloat64);
  return q.transpose(-2, -1).matmul(q) - identity(q.size(-1));
}

// The spectral norm of symmetric matrices.
inline torch::Tensor symmetric_norm(const torch::Tensor& a) {
  return torch::linalg_eigvalsh(a, "L").abs().amax(-1);
}

// The largest entry of measure(samples) over all sizes; not a number where one entry is, or where
// an operator gave LAPACK a matrix that it refuses.
template <class Measure>
double largest(const SampleSet& all, const Measure& measure) {
  double worst = -std::numeric_limits<double>::infinity();
  for (const Samples& samples : all.sizes) {
    if (all.on_size) all.on_size(samples.n);
    try {
      const torch::Tensor value = measure(samples).to(torch::kFloat64).max();
      if (value.isnan().template item<bool>()) return std::nan("");
      worst = std::max(worst, value.template item<double>());
    } catch (const c10::LinAlgError&) {
      return std::nan("");
    }
  }
  return worst;
}

template <class Measure>
double smallest(const SampleSet& all, const Measure& measure) {
  return -largest(all, [&](const Samples& samples) { return -measure(samples); });
}

// A statement by name. Its check leaves the row's id to whoever has the name.
struct Statement {
  const char* id;
  TheoremRow (*check)(const SampleSet& all, const OperatorsUnderTest& op);
};

// The groups of statements, one a file.
using Statements = std::vector<Statement>;
Statements rotation_theorems();
Statements reflection_theorems();
Statements hybrid_theorems();
Statements geodesic_theorems();
Statements unitary_theorems();
Statements gate_theorems();
Statements peer_theorems();

}  // namespace edelta::verify
