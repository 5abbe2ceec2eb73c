#include "edelta/ops/puzzle.h"

#include <cmath>

#include "edelta/ops/implementation.h"
#include "ops/fused/fused.h"
#include "ops/shapes.h"

namespace edelta::ops {
namespace {

using torch::Tensor;

// (−x₂, x₁) of the halves x₁, x₂ of the last dimension.
Tensor quarter_turn(const Tensor& x) {
  const auto halves = x.chunk(2, -1);
  return torch::cat({-halves[1], halves[0]}, -1);
}

}  // namespace

Tensor rms_normalise(const Tensor& x, double eps) {
  if (use_fused({x})) return fused::rms_normalise(x, eps);
  // The recursion amplifies what the norm, which every call ends with, rounds off.
  const Tensor mean = x.to(torch::kFloat64).square().mean(-1, /*keepdim=*/true);
  return x * (mean + eps).rsqrt().to(x.scalar_type());
}

Tensor swiglu(const Tensor& x, const Tensor& gate_up, const Tensor& down) {
  shapes::require_swiglu("swiglu", x, -1, gate_up, down);
  if (use_fused({x, gate_up, down})) return fused::swiglu(x, gate_up, down);
  const auto halves = x.matmul(gate_up.t()).chunk(2, -1);
  return (torch::silu(halves[0]) * halves[1]).matmul(down.t());
}

Tensor normed_swiglu(const Tensor& x, const Tensor& gate_up, const Tensor& down, double eps) {
  shapes::require_swiglu("normed_swiglu", x, -1, gate_up, down);
  if (use_fused({x, gate_up, down})) return fused::normed_swiglu(x, gate_up, down, eps);
  return rms_normalise(x + swiglu(x, gate_up, down), eps);
}

Tensor normed_swiglu_over_positions(const Tensor& x, const Tensor& gate_up, const Tensor& down,
                                    double eps) {
  shapes::require_swiglu("normed_swiglu_over_positions", x, -2, gate_up, down);
  if (use_fused({x, gate_up, down})) {
    return fused::normed_swiglu_over_positions(x, gate_up, down, eps);
  }
  const Tensor turned = x.transpose(1, 2).contiguous();
  return normed_swiglu(turned, gate_up, down, eps).transpose(1, 2).contiguous();
}

RotaryTables rotary_tables(int64_t positions, int64_t size, double theta,
                           const torch::TensorOptions& options) {
  const Tensor j = torch::arange(0, size, 2, torch::kFloat64);
  const Tensor frequencies = torch::exp(-std::log(theta) / static_cast<double>(size) * j);
  const Tensor half = torch::outer(torch::arange(positions, torch::kFloat64), frequencies);
  const Tensor angles = torch::cat({half, half}, -1);
  return {angles.cos().to(options), angles.sin().to(options)};
}

Tensor whole_attention(const Tensor& qkv, int64_t heads, const RotaryTables& rotary) {
  shapes::require_whole_attention(qkv, heads, rotary.cos, rotary.sin);
  const int64_t size = qkv.size(-1) / (3 * heads);
  if (size <= fused::kLargestHead && use_fused({qkv, rotary.cos, rotary.sin})) {
    return fused::whole_attention(qkv, heads, rotary);
  }
  // [3, B, h, T, s]
  const Tensor parts =
      qkv.view({qkv.size(0), qkv.size(1), 3, heads, size}).permute({2, 0, 3, 1, 4});
  const auto turned = [&](const Tensor& x) {
    return rotary.cos.defined() ? x * rotary.cos + quarter_turn(x) * rotary.sin : x;
  };
  const Tensor query = turned(parts[0]), key = turned(parts[1]);
  const Tensor scores = query.matmul(key.transpose(-2, -1)) / std::sqrt(static_cast<double>(size));
  const Tensor out = torch::softmax(scores, -1).matmul(parts[2]);
  return out.transpose(1, 2).reshape({qkv.size(0), qkv.size(1), heads * size});
}

Tensor stablemax_losses(const Tensor& logits, const Tensor& target) {
  constexpr double kTiny = 1e-30;  // as published
  const Tensor x = logits.to(torch::kFloat64);
  // The branch that is not taken is kept from its pole, where its gradient would be no number.
  const Tensor below = 1 / (1 - x.clamp_max(0) + kTiny);
  const Tensor s = torch::where(x < 0, below, x + 1);
  const Tensor counts = target != kIgnoredCell;
  const Tensor index = torch::where(counts, target, torch::zeros_like(target)).to(torch::kInt64);
  const Tensor chosen = s.gather(-1, index.unsqueeze(-1)).squeeze(-1);
  const Tensor losses = s.sum(-1).log() - chosen.log();
  return torch::where(counts, losses, torch::zeros_like(losses));
}

}  // namespace edelta::ops
