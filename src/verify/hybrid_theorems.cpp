// The hybrid G_γ = γ Q + (1 − γ) H.
//
// QᵀH is orthogonal with determinant −1, so it always has the eigenvalue −1, and the eigenvalues of
//   GᵀG = γ² + (1 − γ)² + γ(1 − γ)(QᵀH + HᵀQ)
// fill no more than [(1 − 2γ)², 1], whose lower end is always taken: ‖GᵀG − I‖ = 4γ(1 − γ), exactly
// the paper's gate regulariser, and G is singular at γ = ½ whatever Q and H are.
#include "verify/theorem_samples.h"

namespace edelta::verify {
namespace {

using geometry::Blend;
using geometry::Branch;
using geometry::OperatorParameters;
using torch::Tensor;

OperatorParameters with_gate(const Samples& s, const Tensor& gamma) {
  return {s.ordinary.u, s.ordinary.v, s.ordinary.beta, s.k, gamma};
}

Tensor blended(const OperatorsUnderTest& op, const Samples& s, const Tensor& gamma) {
  return op.hybrid_operator(with_gate(s, gamma), Branch::hybrid, Blend::linear).value;
}

Tensor constant_gate(const Samples& s, double gamma) { return torch::full_like(s.gamma, gamma); }

TheoremRow component_orthogonality(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const OperatorParameters p{s.extreme.u, s.extreme.v, s.extreme.beta, s.k, s.gamma};
    const auto defect = [&](Branch branch) {
      return gram_defect(op.hybrid_operator(p, branch, Blend::linear).value).abs();
    };
    return torch::maximum(defect(Branch::cayley), defect(Branch::householder));
  };
  return {"each branch of the hybrid is orthogonal by itself", "‖GᵀG − I‖_max of either branch",
          largest(all, measure), Relation::at_most, 1e-12};
}

TheoremRow midpoint_defect(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    return symmetric_norm(gram_defect(blended(op, s, constant_gate(s, 0.5))));
  };
  return {"at γ = ½ the hybrid is not orthogonal, whatever Q and H are", "smallest ‖GᵀG − I‖₂",
          smallest(all, measure), Relation::at_least, 1 - 1e-12};
}

TheoremRow midpoint_singularity(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    return torch::linalg_svdvals(blended(op, s, constant_gate(s, 0.5))).amin(-1);
  };
  return {"at γ = ½ the hybrid even loses a dimension",
          "largest of the smallest singular values of G", largest(all, measure), Relation::at_most,
          1e-12};
}

TheoremRow defect_is_penalty(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const Tensor penalty = op.gate_penalty(s.gamma, geometry::GateRegulariser::product).squeeze(-1);
    return (symmetric_norm(gram_defect(blended(op, s, s.gamma))) - penalty).abs();
  };
  return {"the product regulariser is the distance from orthogonality: ‖GᵀG − I‖₂ = 4γ(1 − γ)",
          "difference of both sides", largest(all, measure), Relation::at_most, 1e-12};
}

TheoremRow blend_norm(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const RotationSamples& o = s.ordinary;
    const Tensor rotated = op.cayley_matrix(o.u, o.v, o.beta).matmul(s.x).squeeze(-1);
    const Tensor reflected = op.householder_matrix(s.k).matmul(s.x).squeeze(-1);
    const Tensor g = s.gamma, h = 1 - s.gamma;
    const Tensor before = s.x.squeeze(-1).square().sum(-1, true);
    const Tensor after =
        op.hybrid_apply(with_gate(s, s.gamma), s.x).squeeze(-1).square().sum(-1, true);
    const Tensor expected =
        (g.square() + h.square()) * before + 2 * g * h * (rotated * reflected).sum(-1, true);
    return (after - expected).abs() / before;
  };
  return {"‖Gx‖² = γ²‖x‖² + (1 − γ)²‖x‖² + 2γ(1 − γ)⟨Qx, Hx⟩", "difference of both sides over ‖x‖²",
          largest(all, measure), Relation::at_most, 1e-12};
}

TheoremRow boundary_determinants(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const auto determinant = [&](double gamma) {
      return torch::linalg_det(blended(op, s, constant_gate(s, gamma)));
    };
    return torch::maximum((determinant(1) - 1).abs(), (determinant(0) + 1).abs());
  };
  return {"det G is +1 at γ = 1 and −1 at γ = 0", "|det G ∓ 1| at the boundaries",
          largest(all, measure), Relation::at_most, 1e-12};
}

TheoremRow hard_blend_choice(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const RotationSamples& o = s.ordinary;
    const Tensor chosen =
        torch::where((s.gamma > 0.5).unsqueeze(-1), op.cayley_matrix(o.u, o.v, o.beta),
                     op.householder_matrix(s.k));
    return (op.hybrid_operator(with_gate(s, s.gamma), Branch::hybrid, Blend::hard).value != chosen)
        .sum();
  };
  return {"the hard blend is Q or H, bit for bit", "entries that differ", largest(all, measure),
          Relation::at_most, 0};
}

TheoremRow hard_blend_orthogonality(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const OperatorParameters p{s.extreme.u, s.extreme.v, s.extreme.beta, s.k, s.gamma};
    return gram_defect(op.hybrid_operator(p, Branch::hybrid, Blend::hard).value).abs();
  };
  return {"the hard blend is orthogonal at every γ", "‖GᵀG − I‖_max", largest(all, measure),
          Relation::at_most, 1e-12};
}

}  // namespace

Statements hybrid_theorems() {
  return {{"component-orthogonality", component_orthogonality},
          {"midpoint-defect", midpoint_defect},
          {"midpoint-singularity", midpoint_singularity},
          {"defect-is-penalty", defect_is_penalty},
          {"blend-norm", blend_norm},
          {"boundary-determinants", boundary_determinants},
          {"hard-blend-choice", hard_blend_choice},
          {"hard-blend-orthogonality", hard_blend_orthogonality}};
}

}  // namespace edelta::verify
