#include "edelta/ops/sublayers.h"

#include <cmath>
#include <limits>

#include "edelta/ops/dispatch.h"
#include "ops/fused.h"

namespace edelta::ops {
namespace {

using torch::Tensor;

constexpr int64_t kLargestFusedHead = 256;

Tensor add_residual(const Tensor& y, const Tensor& residual) {
  return residual.defined() ? residual + y : y;
}

}  // namespace

Tensor normalise(const Tensor& x, const Norm& norm) {
  if (!norm.weight.defined()) return x;
  if (!norm.rms) return torch::layer_norm(x, {x.size(-1)}, norm.weight, norm.bias, norm.eps());
  const Tensor scaled =
      x * torch::rsqrt(x.square().mean(-1, /*keepdim=*/true) + norm.eps()) * norm.weight;
  return norm.bias.defined() ? scaled + norm.bias : scaled;
}

Tensor linear(const Tensor& x, const Norm& norm, const Affine& map, const Tensor& residual) {
  if (use_fused({x, norm.weight, norm.bias, map.weight, map.bias, residual})) {
    return fused::linear(x, norm, map, residual);
  }
  return add_residual(torch::linear(normalise(x, norm), map.weight, map.bias), residual);
}

WithInput linear_with_input(const Tensor& x, const Norm& norm, const Affine& map) {
  if (use_fused({x, norm.weight, norm.bias, map.weight, map.bias})) {
    return fused::linear_with_input(x, norm, map);
  }
  return {linear(x, norm, map), x};
}

Tensor mlp(const Tensor& x, const Norm& norm, const Affine& fc, const Affine& proj,
           const Tensor& residual) {
  if (!norm.rms && use_fused({x, norm.weight, norm.bias, fc.weight, fc.bias, proj.weight, proj.bias,
                              residual})) {
    return fused::mlp(x, norm, fc, proj, residual);
  }
  return linear(torch::gelu(linear(x, norm, fc)), {}, proj, residual);
}

Tensor causal_attention(const Tensor& qkv, int64_t heads, double dropout) {
  const int64_t batch = qkv.size(0);
  const int64_t length = qkv.size(1);
  const int64_t width = qkv.size(2) / 3;
  if (dropout == 0 && width / heads <= kLargestFusedHead && use_fused({qkv})) {
    return fused::causal_attention(qkv, heads);
  }
  const auto split_heads = [&](const Tensor& part) {
    return part.reshape({batch, length, heads, width / heads}).transpose(1, 2);
  };
  const std::vector<Tensor> parts = qkv.split(width, -1);
  const Tensor q = split_heads(parts[0]);
  const Tensor k = split_heads(parts[1]);
  const Tensor v = split_heads(parts[2]);
  const double scale = 1 / std::sqrt(static_cast<double>(width / heads));
  const Tensor future = torch::ones({length, length}, qkv.options().dtype(torch::kBool)).triu(1);
  Tensor attention = (q.matmul(k.transpose(-2, -1)) * scale)
                         .masked_fill(future, -std::numeric_limits<double>::infinity())
                         .softmax(-1);
  if (dropout > 0) attention = torch::dropout(attention, dropout, /*train=*/true);
  return attention.matmul(v).transpose(1, 2).reshape({batch, length, width});
}

}  // namespace edelta::ops
