// How far the peers' mixers are from orthogonal.
//
// Sinkhorn. For logits in (−1, 1) every cross ratio m_ij m_kl/(m_il m_kj) is at most e⁴, and
// scaling rows and columns leaves it alone. Summed over k ≠ i, l ≠ j in a doubly stochastic matrix
// this gives m_ij/(1 − m_ij) ≤ e², so a column of squares sums to at most σ(2), 0.88; and by
// Birkhoff's theorem MᵀM contracts everything orthogonal to the constant vector by tanh²(1), 0.58.
//
// Iterative Cayley. With N = αW/2, two iterations from I + αW give Y = I + 2N + 2N² + 2N³. An
// eigenvalue iν of N becomes one of Y with |·|² = 1 − 4ν⁴ + 4ν⁶.
#include <fmt/format.h>

#include "verify/theorem_samples.h"

namespace edelta::verify {
namespace {

using torch::Tensor;

constexpr int64_t kSinkhornIterations = 20;
constexpr double kAlpha = 0.1;
constexpr int64_t kCayleyIterations = 2;

// What 20 iterations leave undone, at worst tanh(1)⁴⁰ of the start, and the 1e-8 in the divisions.
constexpr double kSinkhornTolerance = 1e-4;

TheoremRow sinkhorn_sums(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const Tensor m = op.sinkhorn(s.logits, kSinkhornIterations);
    const Tensor sums = torch::maximum((m.sum(-1) - 1).abs(), (m.sum(-2) - 1).abs());
    return torch::maximum(sums.amax(-1), -m.amin({-2, -1}));
  };
  return {"Sinkhorn (20 iterations, logits in (−1, 1)) is doubly stochastic to 1e-4",
          "|row or column sum − 1|, and negative entries", largest(all, measure), Relation::at_most,
          kSinkhornTolerance};
}

TheoremRow sinkhorn_defect(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    return gram_defect(op.sinkhorn(s.logits, kSinkhornIterations)).abs().amax({-2, -1});
  };
  return {"Sinkhorn is not orthogonal: an error of at least 1 − σ(2) for such logits",
          "smallest ‖MᵀM − I‖_max", smallest(all, measure), Relation::at_least,
          1 - 1 / (1 + std::exp(-2.0)) - kSinkhornTolerance};
}

TheoremRow sinkhorn_isometry(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const Tensor m = op.sinkhorn(s.logits, kSinkhornIterations);
    const Tensor x = s.x - s.x.mean(-2, /*keepdim=*/true);
    return m.matmul(x).norm(2, {-2, -1}) / x.norm(2, {-2, -1});
  };
  return {"Sinkhorn is no isometry: what differs between streams shrinks to tanh 1 or less",
          "largest ‖Mx‖/‖x‖, x without its mean", largest(all, measure), Relation::at_most,
          std::tanh(1.0) + kSinkhornTolerance};
}

struct IterativeCayley {
  Tensor y;
  Tensor strength;  // ‖αW‖ [S]
  Tensor defect;    // max 4ν⁴|1 − ν²| [S]
};

IterativeCayley iterative_cayley(const Samples& s, const OperatorsUnderTest& op) {
  const Tensor z = 2 * s.logits;
  const Tensor size = torch::linalg_svdvals(kAlpha * (z - z.transpose(-2, -1)));
  const Tensor nu2 = (size / 2).square();
  return {op.iterative_cayley(z, {kAlpha, kCayleyIterations}), size.amax(-1),
          (4 * nu2.square() * (1 - nu2).abs()).amax(-1)};
}

TheoremRow iterative_cayley_defect(const SampleSet& all, const OperatorsUnderTest& op) {
  double largest_defect = 0, strength_there = 0;
  const auto measure = [&](const Samples& s) {
    const IterativeCayley c = iterative_cayley(s, op);
    const int64_t at = c.defect.argmax().item<int64_t>();
    if (c.defect[at].item<double>() > largest_defect) {
      largest_defect = c.defect[at].item<double>();
      strength_there = c.strength[at].item<double>();
    }
    return (symmetric_norm(gram_defect(c.y)) - c.defect).abs();
  };
  const double worst = largest(all, measure);
  return {
      "iterative Cayley is orthogonal only to fourth order: ‖YᵀY − I‖₂ = max 4ν⁴|1 − ν²|, "
      "ν = α|λ(W)|/2",
      "difference of both sides, logits in (−2, 2)",
      worst,
      Relation::at_most,
      1e-12,
      fmt::format("largest error {:.2g}, at ‖αW‖ = {:.2g}", largest_defect, strength_there)};
}

TheoremRow iterative_cayley_isometry(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const IterativeCayley c = iterative_cayley(s, op);
    const Tensor ratio = c.y.matmul(s.x).norm(2, {-2, -1}) / s.x.norm(2, {-2, -1});
    return (ratio.square() - 1).abs() - c.defect;
  };
  return {"iterative Cayley keeps ‖x‖² only to that error",
          "|‖Yx‖²/‖x‖² − 1| beyond max 4ν⁴|1 − ν²|", largest(all, measure), Relation::at_most,
          1e-12};
}

}  // namespace

Statements peer_theorems() {
  return {{"sinkhorn-sums", sinkhorn_sums},
          {"sinkhorn-orthogonality", sinkhorn_defect},
          {"sinkhorn-isometry", sinkhorn_isometry},
          {"iterative-cayley-orthogonality", iterative_cayley_defect},
          {"iterative-cayley-isometry", iterative_cayley_isometry}};
}

}  // namespace edelta::verify
