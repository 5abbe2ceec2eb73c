#include "models/recursive/sublayers.h"

#include <cmath>
#include <numbers>

#include "edelta/ops/linear.h"

namespace edelta::models {

using torch::Tensor;

namespace {

torch::nn::Linear plain_map(int64_t in, int64_t out) {
  return torch::nn::Linear(torch::nn::LinearOptions(in, out).bias(false));
}

}  // namespace

WholeAttention::WholeAttention(int64_t width, int64_t heads, int64_t head_size)
    : heads_(heads),
      qkv_proj_(register_module("qkv_proj", plain_map(width, 3 * heads * head_size))),
      o_proj_(register_module("o_proj", plain_map(heads * head_size, width))) {}

Tensor WholeAttention::forward(const Tensor& x, const ops::RotaryTables& rotary) {
  return attended(ops::linear(x, {}, {qkv_proj_->weight, {}}), rotary, {});
}

Tensor WholeAttention::with_residual(const Tensor& x, const ops::RotaryTables& rotary) {
  const ops::WithInput qkv = ops::linear_with_input(x, {}, {qkv_proj_->weight, {}});
  return attended(qkv.y, rotary, qkv.x);
}

Tensor WholeAttention::attended(const Tensor& qkv, const ops::RotaryTables& rotary,
                                const Tensor& residual) {
  return ops::linear(ops::whole_attention(qkv, heads_, rotary), {}, {o_proj_->weight, {}},
                     residual);
}

void WholeAttention::initialise(at::Generator& generator) {
  initialise_rows(qkv_proj_->weight, generator);
  initialise_rows(o_proj_->weight, generator);
}

SwiGlu::SwiGlu(int64_t width, int64_t inner)
    : gate_up_proj_(register_module("gate_up_proj", plain_map(width, 2 * inner))),
      down_proj_(register_module("down_proj", plain_map(inner, width))) {}

Tensor SwiGlu::forward(const Tensor& x) {
  return ops::swiglu(x, gate_up_proj_->weight, down_proj_->weight);
}

Tensor SwiGlu::normed(const Tensor& x, double eps) {
  return ops::normed_swiglu(x, gate_up_proj_->weight, down_proj_->weight, eps);
}

Tensor SwiGlu::normed_over_positions(const Tensor& x, double eps) {
  return ops::normed_swiglu_over_positions(x, gate_up_proj_->weight, down_proj_->weight, eps);
}

void SwiGlu::initialise(at::Generator& generator) {
  initialise_rows(gate_up_proj_->weight, generator);
  initialise_rows(down_proj_->weight, generator);
}

void truncated_normal(Tensor tensor, double std, at::Generator& generator) {
  const torch::NoGradGuard no_grad;
  const double z = std::erf(std::numbers::sqrt2);
  const double density = std::exp(-2) / std::sqrt(2 * std::numbers::pi);
  const double c = std / std::sqrt(1 - 4 * density / z);
  const Tensor u = torch::empty(tensor.sizes(), torch::kFloat64).uniform_(-z, z, generator);
  tensor.copy_((std::numbers::sqrt2 * c * torch::erfinv(u)).clamp(-2 * c, 2 * c));
}

void initialise_rows(Tensor weight, at::Generator& generator) {
  truncated_normal(weight, 1 / std::sqrt(static_cast<double>(weight.size(1))), generator);
}

}  // namespace edelta::models
