// The complex field: G = P_φ Q on pairs of streams, φ = π(1 − γ). A real matrix is a complex one
// where it commutes with J, which multiplies by i.
#include "verify/orthogonal_blend.h"

namespace edelta::verify {
namespace {

using torch::Tensor;

// Of an odd number, the last is left out.
Tensor even_part(const Tensor& a) { return a.narrow(-1, 0, a.size(-1) - a.size(-1) % 2); }

Tensor times_i(int64_t n) {
  return torch::kron(torch::eye(n / 2, torch::kFloat64),
                     torch::tensor({{0.0, -1.0}, {1.0, 0.0}}, torch::kFloat64));
}

// The real matrix of a b* for complex vectors a and b.
Tensor outer_product(const Tensor& a, const Tensor& b) {
  const auto part = [](const Tensor& x, int64_t which) {
    return x.slice(-1, which, c10::nullopt, 2);
  };
  const auto times = [](const Tensor& x, const Tensor& y) {
    return x.unsqueeze(-1) * y.unsqueeze(-2);
  };
  const Tensor re = times(part(a, 0), part(b, 0)) + times(part(a, 1), part(b, 1));
  const Tensor im = times(part(a, 1), part(b, 0)) - times(part(a, 0), part(b, 1));
  Tensor real = torch::zeros({a.size(0), a.size(-1), a.size(-1)}, torch::kFloat64);
  const auto entries = [&](int64_t row, int64_t column) {
    return real.slice(-2, row, c10::nullopt, 2).slice(-1, column, c10::nullopt, 2);
  };
  entries(0, 0).copy_(re);
  entries(1, 1).copy_(re);
  entries(1, 0).copy_(im);
  entries(0, 1).copy_(-im);
  return real;
}

struct Unitary {
  static constexpr int64_t kStreamsOfNumber = 2, kStreamsWithDirection = 4;
  static constexpr const char* kOrthogonality = "over the complex field G is unitary at every γ";
  static constexpr const char* kDefect = "‖GᵀG − I‖_max and ‖GJ − JG‖_max, J = i";
  static constexpr const char* kEnd = "at γ = 0 it negates k, and ik with it";

  static Tensor matrix(const OperatorsUnderTest& op, const OperatorParameters& p) {
    return op.unitary_matrix(p.u, p.v, p.beta, p.k, p.gamma);
  }
  static Tensor rotation(const OperatorsUnderTest& op, const OperatorParameters& p) {
    return op.unitary_rotation_matrix(p.u, p.v, p.beta);
  }
  static Tensor vector(const Tensor& a) { return even_part(a); }
  static Tensor defect(const Tensor& g_in) {
    const Tensor g = g_in.to(torch::kFloat64), j = times_i(g.size(-1));
    return torch::maximum(gram_defect(g).abs(), (g.matmul(j) - j.matmul(g)).abs());
  }
  // k and ik as columns.
  static Tensor negated(const OperatorParameters& p) {
    const Tensor k = (p.k / p.k.norm(2, -1, true)).unsqueeze(-1);
    return torch::cat({k, times_i(k.size(-2)).matmul(k)}, -1);
  }
};

TheoremRow unitary_closed_form(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const OperatorParameters p = blend_parameters<Unitary>(s, s.ordinary, gate_at(s, 1));
    const Tensor m = p.beta.unsqueeze(-1) / 2 * (outer_product(p.u, p.v) - outer_product(p.v, p.u));
    const Tensor one = identity(m.size(-1));
    const Tensor solved = std::get<0>(torch::linalg_solve_ex(one + m, one - m));
    return (Unitary::rotation(op, p) - solved).abs();
  };
  return {"its closed form solves (I + M) Q = I − M, M = (β/2)(uv* − vu*)",
          "‖closed form − linear solve‖_max", largest(all, measure), Relation::at_most, 1e-12};
}

}  // namespace

Statements unitary_theorems() {
  return {{"unitary-orthogonality", blend_orthogonality<Unitary>},
          {"unitary-orthogonality-float32", blend_orthogonality_float32<Unitary>},
          {"unitary-determinant", blend_determinant<Unitary>},
          {"unitary-closed-form", unitary_closed_form},
          {"unitary-start", blend_start<Unitary>},
          {"unitary-end", blend_end<Unitary>},
          {"unitary-eigenvalue", blend_eigenvalue<Unitary>},
          {"unitary-slope", blend_slope<Unitary>},
          {"unitary-midpoint", blend_midpoint<Unitary>},
          {"unitary-gradient", blend_gradient<Unitary>}};
}

}  // namespace edelta::verify
