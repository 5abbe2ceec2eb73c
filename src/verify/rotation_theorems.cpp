// The Cayley rotation Q = (I + M)⁻¹ (I − M), M = (β/2)(u vᵀ − v uᵀ).
#include <fmt/format.h>

#include "verify/theorem_samples.h"

namespace edelta::verify {
namespace {

using torch::Tensor;

Tensor defining_m(const RotationSamples& s) {
  const auto outer = [](const Tensor& a, const Tensor& b) {
    return a.unsqueeze(-1) * b.unsqueeze(-2);
  };
  return s.beta.unsqueeze(-1) / 2 * (outer(s.u, s.v) - outer(s.v, s.u));
}

// x of A x = B, infinite or not a number where A is singular.
Tensor solve(const Tensor& a, const Tensor& b) {
  return std::get<0>(torch::linalg_solve_ex(a, b, /*left=*/true, /*check_errors=*/false));
}

Tensor smallest_singular_value(const Tensor& a) { return torch::linalg_svdvals(a).amin(-1); }
Tensor largest_singular_value(const Tensor& a) { return torch::linalg_svdvals(a).amax(-1); }

Tensor rotation(const OperatorsUnderTest& op, const RotationSamples& s) {
  return op.cayley_matrix(s.u, s.v, s.beta);
}

// The transform is its own inverse, M = (I + Q)⁻¹ (I − Q), so A = (2/β) M can be read off Q.
TheoremRow skew_symmetry(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const Tensor q = rotation(op, s.ordinary);
    const Tensor m = solve(identity(s.n) + q, identity(s.n) - q);
    const Tensor size = m.abs().amax({-2, -1}).clamp_min(1);
    return (m + m.transpose(-2, -1)).abs().amax({-2, -1}) / size;
  };
  return {"A = uvᵀ − vuᵀ is skew-symmetric", "‖M + Mᵀ‖/max(1, ‖M‖), M = (β/2)A recovered from Q",
          largest(all, measure), Relation::at_most, 1e-10};
}

template <torch::ScalarType type>
TheoremRow orthogonality(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    return gram_defect(op.cayley_matrix(s.extreme.u.to(type), s.extreme.v.to(type),
                                        s.extreme.beta.to(type)))
        .abs();
  };
  constexpr bool wide = type == torch::kFloat64;
  return {wide ? "Q is orthogonal for every u, v, β" : "the same in float32",
          "‖QᵀQ − I‖_max; β 1e±12, |u|, |v| 1e±18, parallel, zero", largest(all, measure),
          Relation::at_most, wide ? 1e-12 : 2e-6};
}

TheoremRow isometry(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const Tensor y = op.cayley_rotate(s.extreme.u, s.extreme.v, s.extreme.beta, s.x);
    return (y.norm(2, {-2, -1}) / s.x.norm(2, {-2, -1}) - 1).abs();
  };
  return {"‖Qx‖ = ‖x‖ for every x", "|‖Qx‖/‖x‖ − 1|", largest(all, measure), Relation::at_most,
          1e-12};
}

TheoremRow determinant(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    return (torch::linalg_det(rotation(op, s.extreme)) - 1).abs();
  };
  return {"det Q = +1: Q is a rotation", "|det Q − 1|", largest(all, measure), Relation::at_most,
          1e-11};
}

// From the definition of M, and from Q itself: I + M = 2 (I + Q)⁻¹.
TheoremRow non_singularity(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const Tensor defined = smallest_singular_value(identity(s.n) + defining_m(s.ordinary));
    const Tensor recovered = 2 / largest_singular_value(identity(s.n) + rotation(op, s.extreme));
    return torch::minimum(defined, recovered);
  };
  return {"I + M is never singular: its singular values are √(1 + σ²) ≥ 1",
          "smallest σ(I + M), by definition and as 2/σ_max(I + Q)", smallest(all, measure),
          Relation::at_least, 1 - 1e-12};
}

// Q is normal, so the smallest singular value of I + Q is the distance of its spectrum from −1.
// With t = tan(θ/2) up to 1e6 that distance, 2/√(1 + t²), stays far above rounding.
TheoremRow no_eigenvalue_minus_one(const SampleSet& all, const OperatorsUnderTest& op) {
  double closest = std::numeric_limits<double>::infinity(), beta_there = 0;
  const auto measure = [&](const Samples& s) {
    const Tensor beta = s.ordinary.beta.pow(3) * s.ordinary.area.pow(2) / 4;
    const Tensor t = (beta * s.ordinary.area / 2).squeeze(-1);
    const Tensor distance =
        smallest_singular_value(identity(s.n) + op.cayley_matrix(s.ordinary.u, s.ordinary.v, beta));
    const int64_t at = distance.argmin().item<int64_t>();
    if (distance[at].item<double>() < closest) {
      closest = distance[at].item<double>();
      beta_there = beta[at].item<double>();
    }
    return (distance * (1 + t.square()).sqrt() / 2 - 1).abs();
  };
  const double worst = largest(all, measure);
  return {"−1 is no eigenvalue of Q: its distance is 2/√(1 + s) > 0",
          "relative error of that distance",
          worst,
          Relation::at_most,
          1e-6,
          fmt::format("closest |λ + 1| = {:.2g}, at β = {:.2g}", closest, beta_there)};
}

// β = 2 tan(|θ|/2)/(|u||w|); a negative angle swaps u and v. Read off the matrix in the frame û, ŵ.
TheoremRow any_angle(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const RotationSamples& o = s.ordinary;
    const Tensor swap = s.angle < 0;
    const Tensor beta = 2 * (s.angle.abs() / 2).tan() / o.area;
    const Tensor q =
        op.cayley_matrix(torch::where(swap, o.v, o.u), torch::where(swap, o.u, o.v), beta);
    const Tensor e = o.u / o.u.norm(2, -1, true);
    const Tensor w = o.v - (e * o.v).sum(-1, true) * e;
    const Tensor rotated = q.matmul(e.unsqueeze(-1)).squeeze(-1);
    const Tensor sine = (w / w.norm(2, -1, true) * rotated).sum(-1, true);
    const Tensor cosine = (e * rotated).sum(-1, true);
    return (torch::atan2(sine, cosine) - s.angle).abs();
  };
  return {"finite parameters give every angle in (−π, π): β = 2 tan(θ/2)/(|u||w|)",
          "|angle of Q − θ|, |θ| up to π − 1e-6", largest(all, measure), Relation::at_most, 1e-12};
}

TheoremRow closed_form(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const Tensor m = defining_m(s.ordinary);
    return (rotation(op, s.ordinary) - solve(identity(s.n) + m, identity(s.n) - m)).abs();
  };
  return {"I − 2/(1+s)·(M − M²) is the solution of (I + M) Q = I − M",
          "‖closed form − linear solve‖_max", largest(all, measure), Relation::at_most, 1e-12};
}

}  // namespace

Statements rotation_theorems() {
  return {{"skew-symmetry", skew_symmetry},
          {"orthogonality", orthogonality<torch::kFloat64>},
          {"orthogonality-float32", orthogonality<torch::kFloat32>},
          {"isometry", isometry},
          {"rotation-determinant", determinant},
          {"non-singularity", non_singularity},
          {"no-eigenvalue-minus-one", no_eigenvalue_minus_one},
          {"any-angle", any_angle},
          {"closed-form", closed_form}};
}

}  // namespace edelta::verify
