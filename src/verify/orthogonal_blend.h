// What the blends that stay orthogonal have in common, each statement for either of them.
//
// A Blend says what G and Q are (matrix, rotation), which part of the samples it can be made of
// (vector), how far G is from what it should be (defect), and what it negates at γ = 0.
#pragma once

#include <numbers>

#include "edelta/ops/implementation.h"
#include "verify/theorem_samples.h"

namespace edelta::verify {

using geometry::OperatorParameters;

template <class Blend>
OperatorParameters blend_parameters(const Samples& s, const RotationSamples& rotation,
                                    const torch::Tensor& gamma) {
  return {Blend::vector(rotation.u), Blend::vector(rotation.v), rotation.beta, Blend::vector(s.k),
          gamma};
}

inline OperatorParameters to(const OperatorParameters& p, torch::ScalarType type) {
  return {p.u.to(type), p.v.to(type), p.beta.to(type), p.k.to(type), p.gamma.to(type)};
}

inline torch::Tensor gate_at(const Samples& s, double gamma) {
  return torch::full_like(s.gamma, gamma);
}

// In (0, 1), and at 0, ½ and 1.
inline torch::Tensor whole_range(const Samples& s) {
  const torch::Tensor kind = torch::arange(s.gamma.size(0)).remainder(6).unsqueeze(-1);
  return torch::where(kind < 3, kind.to(torch::kFloat64) / 2, s.gamma);
}

template <class Blend>
TheoremRow blend_orthogonality(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    return Blend::defect(Blend::matrix(op, blend_parameters<Blend>(s, s.extreme, whole_range(s))));
  };
  return {Blend::kOrthogonality, Blend::kDefect, largest(all, measure),
          Relation::at_most,     1e-12,          "β 1e±12, |u|, |v|, |k| 1e±18, parallel, zero"};
}

// As training computes it, and as libtorch's own operations do.
template <class Blend>
TheoremRow blend_orthogonality_float32(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const OperatorParameters p =
        to(blend_parameters<Blend>(s, s.extreme, whole_range(s)), torch::kFloat32);
    const torch::Tensor trained = Blend::defect(Blend::matrix(op, p));
    const ops::Implementation before = ops::implementation();
    ops::set_implementation(ops::Implementation::composite);
    const torch::Tensor composite = Blend::defect(Blend::matrix(op, p));
    ops::set_implementation(before);
    return torch::maximum(trained, composite);
  };
  return {"the same in float32, as trained and composite", Blend::kDefect, largest(all, measure),
          Relation::at_most, 2e-6};
}

template <class Blend>
TheoremRow blend_determinant(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const torch::Tensor g =
        Blend::matrix(op, blend_parameters<Blend>(s, s.extreme, whole_range(s)));
    return (torch::linalg_det(g) - 1).abs();
  };
  return {"det G = +1 at every γ: the path stays among the rotations", "|det G − 1|",
          largest(all, measure), Relation::at_most, 1e-11};
}

template <class Blend>
TheoremRow blend_start(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const OperatorParameters p = blend_parameters<Blend>(s, s.extreme, gate_at(s, 1));
    return (Blend::matrix(op, p) != Blend::rotation(op, p)).sum();
  };
  return {"at γ = 1 G is Q, bit for bit", "entries that differ", largest(all, measure),
          Relation::at_most, 0};
}

template <class Blend>
TheoremRow blend_end(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const OperatorParameters p = blend_parameters<Blend>(s, s.ordinary, gate_at(s, 0));
    const torch::Tensor turn =
        Blend::matrix(op, p).matmul(Blend::rotation(op, p).transpose(-2, -1));
    const torch::Tensor plane = Blend::negated(p);
    return (turn.matmul(plane) + plane).abs();
  };
  return {Blend::kEnd, "largest difference of GQ⁻¹x from −x", largest(all, measure),
          Relation::at_most, 1e-12};
}

// With v = u, so that Q = I: G is normal, and the smallest singular value of I + G is the distance
// of its spectrum from −1.
template <class Blend>
TheoremRow blend_eigenvalue(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    OperatorParameters p = blend_parameters<Blend>(s, s.ordinary, gate_at(s, 0));
    p.v = p.u;
    const torch::Tensor g = Blend::matrix(op, p);
    return torch::linalg_svdvals(identity(g.size(-1)) + g).amin(-1);
  };
  return {"at γ = 0 it reaches the eigenvalue −1, which no Cayley rotation has",
          "|λ + 1| of the closest eigenvalue, Q = I", largest(all, measure), Relation::at_most,
          1e-12};
}

// By differences, with an error of h⁴π⁵/30.
template <class Blend>
TheoremRow blend_slope(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    constexpr double kStep = 1e-3;
    const torch::Tensor gamma =
        torch::where(whole_range(s) == 0.5, 0.5, s.gamma.clamp(2 * kStep, 1 - 2 * kStep));
    const auto across = [&](double h) {
      return Blend::matrix(op, blend_parameters<Blend>(s, s.ordinary, gamma + h)) -
             Blend::matrix(op, blend_parameters<Blend>(s, s.ordinary, gamma - h));
    };
    const torch::Tensor slope = (8 * across(kStep) - across(2 * kStep)) / (12 * kStep);
    return (torch::linalg_svdvals(slope).amax(-1) - std::numbers::pi).abs();
  };
  return {"dG/dγ exists and has the size π at every γ, ½ included: no plateau", "|‖dG/dγ‖₂ − π|",
          largest(all, measure), Relation::at_most, 1e-8};
}

template <class Blend>
TheoremRow blend_midpoint(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    return torch::linalg_svdvals(
               Blend::matrix(op, blend_parameters<Blend>(s, s.ordinary, gate_at(s, 0.5))))
        .amin(-1);
  };
  return {"at γ = ½ nothing is lost, where the linear blend loses a dimension",
          "smallest singular value of G", smallest(all, measure), Relation::at_least, 1 - 1e-12};
}

// The generator of edelta as it starts: weights N(0, 0.02²), biases 0, the gate's bias 4. It looks
// at kPooledWidth numbers.
constexpr int64_t kPooledWidth = 128;
std::shared_ptr<geometry::Generator> started_generator(int64_t streams);

// The largest gradient of each parameter, for a functional of G; the smallest of these. On as few
// streams as have one plane only, k has nothing to say.
template <class Blend>
TheoremRow blend_gradient(const SampleSet& all, const OperatorsUnderTest& op) {
  const auto measure = [&](const Samples& s) {
    const int64_t n = std::max(Blend::kStreamsWithDirection, s.n - s.n % Blend::kStreamsOfNumber);
    // The same numbers again and again, up to the width: what they are does not matter.
    const torch::Tensor pooled =
        s.x.squeeze(-1).repeat({1, kPooledWidth / s.n + 1}).narrow(-1, 0, kPooledWidth);
    const auto generator = started_generator(n);
    const torch::Tensor g = Blend::matrix(op, generator->generate(pooled));
    const torch::Tensor weight = torch::arange(n * n, torch::kFloat64).sin().view({n, n});
    torch::Tensor least = torch::full({}, std::numeric_limits<double>::infinity(), torch::kFloat64);
    for (const torch::Tensor& gradient :
         torch::autograd::grad({(g * weight).sum()}, generator->parameters())) {
      least = torch::minimum(least, gradient.abs().max());
    }
    return least;
  };
  return {"at the usual start every parameter has a gradient (weights N(0, 0.02²), gate bias 4)",
          "smallest over parameters of the largest gradient", smallest(all, measure),
          Relation::at_least, 1e-8};
}

}  // namespace edelta::verify
