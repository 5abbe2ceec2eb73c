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

TheoremRow delta_at_ends(const std::vector<Samples>& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const Tensor zero = torch::zeros_like(s.beta);
    return torch::maximum(gram_defect(delta_matrix(op, s, zero)).abs(),
                          gram_defect(delta_matrix(op, s, zero + 2)).abs());
  };
  return {"delta-at-0-and-2", "Δ is orthogonal at β = 0 and β = 2",
          "‖ΔᵀΔ − I‖_max",    largest(all, measure),
          Relation::at_most,  1e-12};
}

// ΔᵀΔ − I = β(β − 2) k kᵀ has rank 1: its spectral norm is its Frobenius norm.
TheoremRow delta_defect(const std::vector<Samples>& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const Tensor size = gram_defect(delta_matrix(op, s, s.beta)).norm(2, {-2, -1});
    return (size - (s.beta * (s.beta - 2)).abs().squeeze(-1)).abs();
  };
  return {"delta-elsewhere",
          "at any other β it is not: ‖ΔᵀΔ − I‖ = |β(β − 2)|",
          "difference from that size, β in (0, 3)",
          largest(all, measure),
          Relation::at_most,
          1e-12};
}

TheoremRow delta_norm(const std::vector<Samples>& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const Tensor x = s.x.squeeze(-1);
    const Tensor before = x.square().sum(-1, true);
    const Tensor along = (unit(s.k) * x).sum(-1, true);
    const Tensor after = op.delta(s.k, s.beta, x).square().sum(-1, true);
    return (after - before - s.beta * (s.beta - 2) * along.square()).abs() / before;
  };
  return {"delta-norm",
          "Δ distorts norms: ‖Δx‖² = ‖x‖² + β(β − 2)(k·x)²",
          "difference of both sides over ‖x‖²",
          largest(all, measure),
          Relation::at_most,
          1e-12};
}

TheoremRow reflection_orthogonality(const std::vector<Samples>& all, const OperatorsUnderTest& op,
                                    torch::ScalarType type) {
  const auto measure = [&](const Samples& s) {
    return gram_defect(op.householder_matrix(s.k.to(type))).abs();
  };
  const bool wide = type == torch::kFloat64;
  return {wide ? "reflection-orthogonality" : "reflection-orthogonality-float32",
          wide ? "H is orthogonal for every k ≠ 0" : "the same in float32",
          "‖HᵀH − I‖_max, |k| 1e±18",
          largest(all, measure),
          Relation::at_most,
          wide ? 1e-12 : 2e-6};
}

TheoremRow reflection_eigenvalues(const std::vector<Samples>& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const Tensor h = op.householder_matrix(s.k);
    Tensor expected = torch::ones({s.n}, torch::kFloat64);
    expected[0] = -1;
    const Tensor ascending = torch::linalg_eigvalsh(h, "L");
    return torch::maximum((ascending - expected).abs().max(),
                          (h - h.transpose(-2, -1)).abs().max());
  };
  return {"reflection-eigenvalues",
          "H is symmetric with the eigenvalue −1 once and +1 n − 1 times",
          "largest difference from them, and from symmetry",
          largest(all, measure),
          Relation::at_most,
          1e-12};
}

TheoremRow reflection_determinant(const std::vector<Samples>& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    return (torch::linalg_det(op.householder_matrix(s.k)) + 1).abs();
  };
  return {"reflection-determinant",
          "det H = −1: H is no rotation",
          "|det H + 1|",
          largest(all, measure),
          Relation::at_most,
          1e-12};
}

TheoremRow negation(const std::vector<Samples>& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const Tensor k = unit(s.k);
    const Tensor reflected = op.householder_reflect(s.k, k.unsqueeze(-1)).squeeze(-1);
    const Tensor erased = op.delta(s.k, torch::full_like(s.beta, 2), k);
    return torch::maximum((reflected + k).abs(), (erased + k).abs());
  };
  return {"negation",        "at β = 2 the direction k is negated: Hk = Δk = −k",
          "‖Hk + k‖_max",    largest(all, measure),
          Relation::at_most, 1e-12};
}

}  // namespace

Rows reflection_theorems(const std::vector<Samples>& all, const OperatorsUnderTest& op) {
  return {delta_at_ends(all, op),
          delta_defect(all, op),
          delta_norm(all, op),
          reflection_orthogonality(all, op, torch::kFloat64),
          reflection_orthogonality(all, op, torch::kFloat32),
          reflection_eigenvalues(all, op),
          reflection_determinant(all, op),
          negation(all, op)};
}

}  // namespace edelta::verify
