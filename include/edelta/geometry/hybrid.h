// The hybrid operator on streams: rotation and reflection, and what joins them (specification 1.3,
// 1.5, 11).
#pragma once

#include "edelta/torch.h"

#include "edelta/geometry/generator.h"

namespace edelta::geometry {

enum class Blend {
  linear,   // γ Q + (1−γ) H: orthogonal at γ ∈ {0, 1} only
  hard,     // Q or H, whichever the gate prefers, with the gradient of the linear blend: exactly
            // orthogonal at every step
  geodesic  // R_φ Q, turned by φ = π(1−γ): a rotation for every γ
};

// What the streams are numbers of.
enum class ScalarField {
  real,
  complex  // streams 2j and 2j + 1 are real and imaginary part of one; unitary operators, and a
           // phase joins rotation and reflection, which is the geodesic blend there
};

// An operator on streams. The backward pass differentiates through `gradient`, which is the same
// matrix as `value` except for the hard blend.
struct StreamOperator {
  torch::Tensor value;     // [..., n, n]
  torch::Tensor gradient;  // [..., n, n]

  // G x for x [B, T, n·d].
  torch::Tensor operator()(const torch::Tensor& x) const;
};

StreamOperator hybrid_operator(const OperatorParameters& parameters, Branch branch, Blend blend,
                               ScalarField field = ScalarField::real);

// G_γ X for X [..., n, d] without forming a matrix: O(n·d), for a full vector (d = 1) of any size.
// The blend is linear or geodesic.
torch::Tensor hybrid_apply(const OperatorParameters& parameters, const torch::Tensor& x,
                           Branch branch = Branch::hybrid, Blend blend = Blend::linear,
                           ScalarField field = ScalarField::real);

}  // namespace edelta::geometry
