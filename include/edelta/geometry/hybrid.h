// The hybrid operator G_γ = γ Q + (1−γ) H₂ on streams (specification 1.3, 1.5).
#pragma once

#include "edelta/torch.h"

#include "edelta/geometry/generator.h"

namespace edelta::geometry {

enum class Blend {
  linear,  // γ Q + (1−γ) H: orthogonal at γ ∈ {0, 1} only
  hard     // Q or H, whichever the gate prefers, with the gradient of the linear blend: exactly
           // orthogonal at every step
};

// An operator on streams. The backward pass differentiates through `gradient`, which is the same
// matrix as `value` except for the hard blend.
struct StreamOperator {
  torch::Tensor value;     // [..., n, n]
  torch::Tensor gradient;  // [..., n, n]

  // G x for x [B, T, n·d].
  torch::Tensor operator()(const torch::Tensor& x) const;
};

StreamOperator hybrid_operator(const OperatorParameters& parameters, Branch branch, Blend blend);

// G_γ X for X [..., n, d] without forming a matrix: O(n·d), for a full vector (d = 1) of any size.
torch::Tensor hybrid_apply(const OperatorParameters& parameters, const torch::Tensor& x);

}  // namespace edelta::geometry
