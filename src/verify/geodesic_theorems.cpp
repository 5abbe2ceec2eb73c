// The geodesic blend G = R_φ Q, φ = π(1 − γ): the path from Q to a reflection of the plane of k and
// a that never leaves the rotations.
#include "verify/orthogonal_blend.h"

namespace edelta::verify {
namespace {

using torch::Tensor;

struct Geodesic {
  static constexpr int64_t kStreamsOfNumber = 1, kStreamsWithDirection = 3;
  static constexpr const char* kOrthogonality = "the geodesic blend is orthogonal at every γ";
  static constexpr const char* kDefect = "‖GᵀG − I‖_max";
  static constexpr const char* kEnd = "at γ = 0 it negates k, and the part of u orthogonal to it";

  static Tensor matrix(const OperatorsUnderTest& op, const OperatorParameters& p) {
    return op.geodesic_matrix(p.u, p.v, p.beta, p.k, p.gamma);
  }
  static Tensor rotation(const OperatorsUnderTest& op, const OperatorParameters& p) {
    return op.cayley_matrix(p.u, p.v, p.beta);
  }
  static Tensor vector(const Tensor& a) { return a; }
  static Tensor defect(const Tensor& g) { return gram_defect(g).abs(); }
  // k and a as columns.
  static Tensor negated(const OperatorParameters& p) {
    const Tensor k = p.k / p.k.norm(2, -1, true);
    const Tensor a = p.u - (k * p.u).sum(-1, true) * k;
    return torch::stack({k, a / a.norm(2, -1, true)}, -1);
  }
};

}  // namespace

Statements geodesic_theorems() {
  return {{"geodesic-orthogonality", blend_orthogonality<Geodesic>},
          {"geodesic-orthogonality-float32", blend_orthogonality_float32<Geodesic>},
          {"geodesic-determinant", blend_determinant<Geodesic>},
          {"geodesic-start", blend_start<Geodesic>},
          {"geodesic-end", blend_end<Geodesic>},
          {"geodesic-eigenvalue", blend_eigenvalue<Geodesic>},
          {"geodesic-slope", blend_slope<Geodesic>},
          {"geodesic-midpoint", blend_midpoint<Geodesic>},
          {"geodesic-gradient", blend_gradient<Geodesic>}};
}

}  // namespace edelta::verify
