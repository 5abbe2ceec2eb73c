// The Householder reflection H = I − 2 k kᵀ and the Delta operator Δ = I − β k kᵀ, |k| = 1.
#include "verify/theorem_samples.h"

namespace edelta::verify {
namespace {

using torch::Tensor;

// Δ as a matrix: row i of delta(k, β, I) is Δeᵢ.
Tensor delta_matrix(const OperatorsUnderTest& op, const Samples& s, const Tensor& beta) {
  const Tensor basis = identity(s.n).expand({s.k.size(0), s.n, s.n});
  return op.delta(s.k.unsqueeze(-2), beta.unsqueeze(-2), basis).transpose(-2, -1);
}

Tensor unit(const Tensor& k) { return k / k.norm(2, -1, /*keepdim=*/true); }

TheoremRow delta_at_ends(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const Tensor zero = torch::zeros_like(s.beta);
    return torch::maximum(gram_defect(delta_matrix(op, s, zero)).abs(),
                          gram_defect(delta_matrix(op, s, zero + 2)).abs());
  };
  return {"Δ is orthogonal at β = 0 and β = 2", "‖ΔᵀΔ − I‖_max", largest(all, measure),
          Relation::at_most, 1e-12};
}

// ΔᵀΔ − I = β(β − 2) k kᵀ has rank 1: its spectral norm is its Frobenius norm.
TheoremRow delta_defect(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const Tensor size = gram_defect(delta_matrix(op, s, s.beta)).norm(2, {-2, -1});
    return (size - (s.beta * (s.beta - 2)).abs().squeeze(-1)).abs();
  };
  return {"at any other β it is not: ‖ΔᵀΔ − I‖ = |β(β − 2)|",
          "difference from that size, β in (0, 3)", largest(all, measure), Relation::at_most,
          1e-12};
}

TheoremRow delta_norm(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const Tensor x = s.x.squeeze(-1);
    const Tensor before = x.square().sum(-1, true);
    const Tensor along = (unit(s.k) * x).sum(-1, true);
    const Tensor after = op.delta(s.k, s.beta, x).square().sum(-1, true);
    return (after - before - s.beta * (s.beta - 2) * along.square()).abs() / before;
  };
  return {"Δ distorts norms: ‖Δx‖² = ‖x‖² + β(β − 2)(k·x)²", "difference of both sides over ‖x‖²",
          largest(all, measure), Relation::at_most, 1e-12};
}

template <torch::ScalarType type>
TheoremRow reflection_orthogonality(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    return gram_defect(op.householder_matrix(s.k.to(type))).abs();
  };
  constexpr bool wide = type == torch::kFloat64;
  return {wide ? "H is orthogonal for every k ≠ 0" : "the same in float32",
          "‖HᵀH − I‖_max, |k| 1e±18", largest(all, measure), Relation::at_most,
          wide ? 1e-12 : 2e-6};
}

TheoremRow reflection_eigenvalues(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const Tensor h = op.householder_matrix(s.k);
    Tensor expected = torch::ones({s.n}, torch::kFloat64);
    expected[0] = -1;
    const Tensor ascending = torch::linalg_eigvalsh(h, "L");
    return torch::maximum((ascending - expected).abs().max(),
                          (h - h.transpose(-2, -1)).abs().max());
  };
  return {"H is symmetric with the eigenvalue −1 once and +1 n − 1 times",
          "largest difference from them, and from symmetry", largest(all, measure),
          Relation::at_most, 1e-12};
}

TheoremRow reflection_determinant(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    return (torch::linalg_det(op.householder_matrix(s.k)) + 1).abs();
  };
  return {"det H = −1: H is no rotation", "|det H + 1|", largest(all, measure), Relation::at_most,
          1e-12};
}

TheoremRow negation(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const Tensor k = unit(s.k);
    const Tensor reflected = op.householder_reflect(s.k, k.unsqueeze(-1)).squeeze(-1);
    const Tensor erased = op.delta(s.k, torch::full_like(s.beta, 2), k);
    return torch::maximum((reflected + k).abs(), (erased + k).abs());
  };
  return {"at β = 2 the direction k is negated: Hk = Δk = −k", "‖Hk + k‖_max",
          largest(all, measure), Relation::at_most, 1e-12};
}

}  // namespace

Statements reflection_theorems() {
  return {{"delta-at-0-and-2", delta_at_ends},
          {"delta-elsewhere", delta_defect},
          {"delta-norm", delta_norm},
          {"reflection-orthogonality", reflection_orthogonality<torch::kFloat64>},
          {"reflection-orthogonality-float32", reflection_orthogonality<torch::kFloat32>},
          {"reflection-eigenvalues", reflection_eigenvalues},
          {"reflection-determinant", reflection_determinant},
          {"negation", negation}};
}

}  // namespace edelta::verify
