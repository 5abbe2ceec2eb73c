// What the recursive puzzle model is made of besides what the transformers have (specification 13).
#pragma once

#include "edelta/torch.h"

#include <cstdint>

namespace edelta::ops {

// x/√(mean(x²) + ε) over the last dimension: a root-mean-square norm without weights.
torch::Tensor rms_normalise(const torch::Tensor& x, double eps);

// (silu(g) ⊙ u) W_downᵀ with g and u the halves of x W_gate_upᵀ, the gate first.
torch::Tensor swiglu(const torch::Tensor& x, const torch::Tensor& gate_up,
                     const torch::Tensor& down);
// N(x + SwiGLU(x)), N the norm above.
torch::Tensor normed_swiglu(const torch::Tensor& x, const torch::Tensor& gate_up,
                            const torch::Tensor& down, double eps);
// The same for each channel over the positions of x [B, T, D], the norm included.
torch::Tensor normed_swiglu_over_positions(const torch::Tensor& x, const torch::Tensor& gate_up,
                                           const torch::Tensor& down, double eps);

// The angles t·θ^(−2j/size) of rotary positions, [positions, size], the size/2 of them twice side
// by side.
struct RotaryTables {
  torch::Tensor cos, sin;
};
RotaryTables rotary_tables(int64_t positions, int64_t size, double theta,
                           const torch::TensorOptions& options);

// Every position attends to every one. qkv [B, T, 3·h·s]: the heads of the queries, of the keys, of
// the values; queries and keys are turned by the tables, if these are defined. → [B, T, h·s].
torch::Tensor whole_attention(const torch::Tensor& qkv, int64_t heads, const RotaryTables& rotary);

// Cross-entropy by s(x)/Σ s(x) in place of the exponentials', s(x) = x + 1 for x ≥ 0 and 1/(1 − x)
// below: −ln p of each target, 0 where it is `kIgnoredCell`; logits [..., V], computed in float64.
constexpr int64_t kIgnoredCell = -100;
torch::Tensor stablemax_losses(const torch::Tensor& logits, const torch::Tensor& target);

}  // namespace edelta::ops
