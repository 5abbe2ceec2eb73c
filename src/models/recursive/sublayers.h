// The sub-layers of the recursive model's blocks (specification 13.2): no norm, no bias.
#pragma once

#include "edelta/torch.h"

#include <cstdint>

#include "edelta/ops/puzzle.h"

namespace edelta::models {

// Over all positions, without a mask.
class WholeAttention : public torch::nn::Module {
 public:
  WholeAttention(int64_t width, int64_t heads, int64_t head_size);
  // `rotary` may be undefined.
  torch::Tensor forward(const torch::Tensor& x, const ops::RotaryTables& rotary);
  // x + forward(x)
  torch::Tensor with_residual(const torch::Tensor& x, const ops::RotaryTables& rotary);
  void initialise(at::Generator& generator);

 private:
  torch::Tensor attended(const torch::Tensor& qkv, const ops::RotaryTables& rotary,
                         const torch::Tensor& residual);

  int64_t heads_;
  torch::nn::Linear qkv_proj_, o_proj_;
};

class SwiGlu : public torch::nn::Module {
 public:
  SwiGlu(int64_t width, int64_t inner);
  torch::Tensor forward(const torch::Tensor& x);
  // N(x + forward(x)), N the norm without weights.
  torch::Tensor normed(const torch::Tensor& x, double eps);
  // The same over the positions of x [B, T, D].
  torch::Tensor normed_over_positions(const torch::Tensor& x, double eps);
  void initialise(at::Generator& generator);

 private:
  torch::nn::Linear gate_up_proj_, down_proj_;
};

// N(0, std²) cut off at two of its own standard deviations, which are larger than `std`: the
// result's standard deviation is `std`.
void truncated_normal(torch::Tensor tensor, double std, at::Generator& generator);
// A table or the weight of a linear map, [rows, width], with 1/√width.
void initialise_rows(torch::Tensor weight, at::Generator& generator);

}  // namespace edelta::models
