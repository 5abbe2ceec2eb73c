// The gate that joins rotation and reflection, and what pushes it to a decision
// (specification 1.3).
#pragma once

#include "edelta/torch.h"

#include <vector>

namespace edelta::geometry {

// Each is zero at γ ∈ {0, 1}, symmetric about ½, and penalises a gate that does not decide.
enum class GateRegulariser {
  product,          // 4γ(1−γ), the paper's
  entropy,          // −γ ln γ − (1−γ) ln(1−γ)
  squared_product,  // [γ(1−γ)]²
  min_distance      // min(γ², (1−γ)²): not smooth at ½
};

// Where the regulariser's gradient goes (specification 11).
enum class GateGradient {
  all,  // through x̄ into every feature before it, as in the paper
  gate  // to what makes the gate of x̄ alone
};

// The penalty of each gate value.
torch::Tensor gate_penalty(const torch::Tensor& gamma, GateRegulariser regulariser);

// λ · Σ over operators of the penalty averaged over batch and positions; 0 without gates.
torch::Tensor gate_loss(const std::vector<torch::Tensor>& gates, GateRegulariser regulariser,
                        double lambda);

}  // namespace edelta::geometry
