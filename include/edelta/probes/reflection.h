// The operators of the reflection probe (specification 6): each alone, without a transformer, asked
// to learn x → −x. Their nets look at x itself, and they act on the full vector.
#pragma once

#include "edelta/torch.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace edelta::probes {

struct ReflectionOutput {
  torch::Tensor y;         // [N, dim]
  torch::Tensor beta;      // [N, 1], the step towards a reflection; undefined where there is none
  torch::Tensor gamma;     // [N, 1]; undefined where the operator has none
  double gate_weight = 0;  // λ of the gate's loss
};

class ReflectionOperator : public torch::nn::Module {
 public:
  virtual ReflectionOutput forward(const torch::Tensor& x) = 0;
};

// "ddl", "hybrid" and "jpmhc" are the paper's. Beside them are put the branches of the hybrid by
// themselves ("cayley", "householder"), the blends of both that stay orthogonal ("geodesic", and
// "unitary" over the complex field), "mhc" (Sinkhorn) and "gpt" (a residual MLP).
std::shared_ptr<ReflectionOperator> make_reflection_operator(const std::string& name, int64_t dim,
                                                             int64_t hidden);
const std::vector<std::string>& reflection_operator_names();

constexpr double kReflectionGateWeight = 0.5;  // λ

// Mean squared distance from −x.
torch::Tensor reflection_loss(const torch::Tensor& x, const ReflectionOutput& output);
// λ · mean 4γ(1−γ), or 0 without a gate that has a loss.
torch::Tensor reflection_gate_loss(const ReflectionOutput& output);

}  // namespace edelta::probes
