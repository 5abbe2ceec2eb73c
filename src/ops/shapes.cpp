#include "ops/shapes.h"

#include <algorithm>

namespace edelta::ops::shapes {
namespace {

std::vector<Argument> layer_arguments(const Tensor& x, const Norm& norm, const Affine& map) {
  return {{"x", x},
          {"weight", map.weight},
          {"bias", map.bias},
          {"norm_weight", norm.weight},
          {"norm_bias", norm.bias}};
}

void require_norm(const Arguments& checked, const Tensor& x, const Norm& norm) {
  checked.require_sizes("norm_weight", {size_of(x, -1)}, "[in]");
  checked.require_sizes("norm_bias", {size_of(x, -1)}, "[in]");
  checked.require(norm.weight.defined() || !norm.bias.defined(), "norm_bias needs a norm_weight");
}

// W LN(x) + b.
void require_layer(const Arguments& checked, const Tensor& x, const Norm& norm, const Affine& map,
                   const char* weight = "weight", const char* bias = "bias") {
  checked.require_dims("x", 1);
  checked.require_nonzero("x", -1);
  checked.require(map.weight.dim() == 2, std::string(weight) + " must have the shape [out, in]");
  checked.require_nonzero(weight, 0);
  checked.require_size(weight, 1, size_of(x, -1), "[out, in]");
  checked.require_sizes(bias, {size_of(map.weight, 0)}, "[out]");
  require_norm(checked, x, norm);
}

// [B, T, D] with D a multiple of n.
void require_tokens(const Arguments& checked, const Tensor& x, const c10::SymInt& streams) {
  checked.require(x.dim() == 3, "x must have the shape [B, T, n·d]");
  checked.require_nonzero("x", -1);
  checked.require(streams > 0 && size_of(x, -1) % streams == 0,
                  "the width of x must be a multiple of the number of streams");
}

void require_weights(const Arguments& checked, const Tensor& w, const Tensor& x) {
  checked.require_dims("w", 3);
  require_tokens(checked, x, size_of(w, -1));
  checked.require_sizes("w", leading_with(x, {size_of(w, -1)}), "[B, T, n]");
}

}  // namespace

void require_norm(const Tensor& x, const Norm& norm) {
  const Arguments checked("normalise",
                          {{"x", x}, {"norm_weight", norm.weight}, {"norm_bias", norm.bias}});
  checked.require_dims("x", 1);
  require_norm(checked, x, norm);
}

SymSizes linear(const Tensor& x, const Norm& norm, const Affine& map, const Tensor& residual) {
  std::vector<Argument> all = layer_arguments(x, norm, map);
  all.push_back({"residual", residual});
  const Arguments checked("linear", all);
  require_layer(checked, x, norm, map);
  SymSizes sizes = leading_with(x, {size_of(map.weight, 0)});
  checked.require_sizes("residual", sizes, "[..., out]");
  return sizes;
}

SymSizes mlp(const Tensor& x, const Norm& norm, const Affine& fc, const Affine& proj,
             const Tensor& residual) {
  const Arguments checked("mlp", {{"x", x},
                                  {"fc_weight", fc.weight},
                                  {"fc_bias", fc.bias},
                                  {"proj_weight", proj.weight},
                                  {"proj_bias", proj.bias},
                                  {"norm_weight", norm.weight},
                                  {"norm_bias", norm.bias},
                                  {"residual", residual}});
  require_layer(checked, x, norm, fc, "fc_weight", "fc_bias");
  checked.require(proj.weight.dim() == 2, "proj_weight must have the shape [out, hidden]");
  checked.require_nonzero("proj_weight", 0);
  checked.require_size("proj_weight", 1, size_of(fc.weight, 0), "[out, hidden]");
  checked.require_sizes("proj_bias", {size_of(proj.weight, 0)}, "[out]");
  SymSizes sizes = leading_with(x, {size_of(proj.weight, 0)});
  checked.require_sizes("residual", sizes, "[..., out]");
  return sizes;
}

SymSizes causal_attention(const Tensor& qkv, int64_t heads) {
  const Arguments checked("causal_attention", {{"qkv", qkv}});
  checked.require(qkv.dim() == 3, "qkv must have the shape [B, T, 3·D]");
  checked.require_nonzero("qkv", -1);
  checked.require(heads > 0 && size_of(qkv, -1) % (3 * heads) == 0,
                  "qkv must have the shape [B, T, 3·D] with D a multiple of the heads");
  return leading_with(qkv, {size_of(qkv, -1) / 3});
}

void require_dropped(const Tensor& x) {
  const Arguments checked("drop", {{"x", x}});
  checked.require_dims("x", 1);
  checked.require_nonzero("x", -1);
}

SymSizes embedding(const Tensor& token, const Tensor& words, const Tensor& positions) {
  const Arguments checked("embedding", {{"words", words}, {"positions", positions}});
  checked.require(token.scalar_type() == torch::kInt64 && token.dim() == 2,
                  "token must be an int64 tensor of the shape [B, T]");
  checked.require(token.device() == words.device(), "token must be where words are");
  checked.require(words.dim() == 2, "words must have the shape [V, D]");
  checked.require(positions.dim() == 2, "positions must have the shape [T or more, D]");
  checked.require_size("positions", 1, size_of(words, 1), "[T or more, D]");
  checked.require(size_of(token, 1) <= size_of(positions, 0),
                  "there are fewer positions than a sequence has");
  return {size_of(token, 0), size_of(token, 1), size_of(words, 1)};
}

void require_loss(const char* op, const Tensor& x, const Norm& norm, const Affine& map,
                  const Tensor& target) {
  const Arguments checked(op, layer_arguments(x, norm, map));
  require_layer(checked, x, norm, map);
  checked.require_dims("x", 2);
  checked.require(target.scalar_type() == torch::kInt64, "target must be an int64 tensor");
  checked.require(target.device() == x.device(), "target must be where x is");
  const SymSizes sizes = leading(x);
  checked.require(
      std::equal(sizes.begin(), sizes.end(), target.sym_sizes().begin(), target.sym_sizes().end()),
      "target must have the shape of x without its last dimension");
}

void require_sequences(const char* op, const Tensor& x) {
  const Arguments checked(op, {{"x", x}});
  checked.require(x.dim() == 3, "x must have the shape [B, T, D]");
  checked.require_nonzero("x", 1);
  checked.require_nonzero("x", 2);
}

void require_mixer(const char* op, const char* name, const Tensor& g, const Tensor& x) {
  const Arguments checked(op, {{"x", x}, {name, g}});
  checked.require(g.dim() == 4, std::string(name) + " must have the shape [B, 1 or T, n, n]");
  checked.require_nonzero(name, -1);
  checked.require_size(name, -2, size_of(g, -1), "[B, 1 or T, n, n]");
  require_tokens(checked, x, size_of(g, -1));
  checked.require_size(name, 0, size_of(x, 0), "[B, 1 or T, n, n]");
  if (size_of(g, 1) != 1) {
    checked.require_size(name, 1, size_of(x, 1), "[B, 1 or T, n, n]");
  }
}

SymSizes stream_aggregate(const Tensor& w, const Tensor& x) {
  require_weights({"stream_aggregate", {{"x", x}, {"w", w}}}, w, x);
  return leading_with(x, {size_of(x, -1) / size_of(w, -1)});
}

void require_update(const Tensor& h, const Tensor& x, const Tensor& w, const Tensor& y) {
  const Arguments checked("stream_update", {{"x", x}, {"h", h}, {"w", w}, {"y", y}});
  require_weights(checked, w, x);
  const c10::SymInt n = size_of(w, -1);
  checked.require_sizes("h", leading_with(x, {n, n}), "[B, T, n, n]");
  checked.require_dims("y", 3);
  const bool shared = size_of(y, -1) != size_of(x, -1);
  checked.require_sizes("y", leading_with(x, {shared ? size_of(x, -1) / n : size_of(x, -1)}),
                        shared ? "[B, T, d]" : "[B, T, n·d]");
}

void require_square(const char* op, const Tensor& z, int64_t iterations) {
  const Arguments checked(op, {{"z", z}});
  checked.require_dims("z", 2);
  checked.require_nonzero("z", -1);
  checked.require_size("z", -2, size_of(z, -1), "[..., n, n]");
  checked.require(iterations >= 0, "iterations must not be negative");
}

void require_mixer_logits(const Tensor& z, int64_t iterations) {
  const Arguments checked("token_mixers", {{"z", z}});
  checked.require_dims("z", 3);
  checked.require_nonzero("z", -1);
  checked.require_size("z", -2, size_of(z, -1), "[..., 2 or 3, n, n]");
  checked.require(size_of(z, -3) == 2 || size_of(z, -3) == 3,
                  "z must have the shape [..., 2 or 3, n, n]");
  checked.require(iterations >= 0, "iterations must not be negative");
}

void require_route(const Tensor& x, const Norm& norm, const Affine& map, int64_t streams,
                   int64_t iterations) {
  const Arguments checked("route", layer_arguments(x, norm, map));
  require_tokens(checked, x, streams);
  require_norm(checked, x, norm);
  const Tensor& weight = map.weight;
  checked.require(weight.dim() == 2 && (size_of(weight, 0) == 2 * streams * streams ||
                                        size_of(weight, 0) == 3 * streams * streams),
                  "weight must have the shape [2·n² or 3·n², D]");
  checked.require_sizes("weight", {size_of(weight, 0), size_of(x, -1)}, "[2·n² or 3·n², D]");
  checked.require_sizes("bias", {size_of(weight, 0)}, "[2·n² or 3·n²]");
  checked.require(iterations >= 0, "iterations must not be negative");
}

void require_swiglu(const char* op, const Tensor& x, int64_t over, const Tensor& gate_up,
                    const Tensor& down) {
  const Arguments checked(op, {{"x", x}, {"gate_up", gate_up}, {"down", down}});
  checked.require_dims("x", -over);
  checked.require_nonzero("x", over);
  checked.require(down.dim() == 2, "down must have the shape [width, hidden]");
  const c10::SymInt width = size_of(x, over);
  checked.require_size("down", 0, width, "[width, hidden]");
  checked.require_sizes("gate_up", {size_of(down, 1) * 2, width}, "[2·hidden, width]");
}

void require_whole_attention(const Tensor& qkv, int64_t heads, const Tensor& cos,
                             const Tensor& sin) {
  const Arguments checked("whole_attention", {{"qkv", qkv}, {"cos", cos}, {"sin", sin}});
  checked.require(qkv.dim() == 3, "qkv must have the shape [B, T, 3·D]");
  checked.require_nonzero("qkv", -1);
  checked.require(heads > 0 && size_of(qkv, -1) % (3 * heads) == 0,
                  "qkv must have the shape [B, T, 3·D] with D a multiple of the heads");
  const SymSizes table{size_of(qkv, 1), size_of(qkv, -1) / (3 * heads)};
  checked.require(cos.defined() == sin.defined(), "cos and sin go together");
  checked.require(!cos.defined() || table.back() % 2 == 0,
                  "rotary positions need heads of an even size");
  checked.require_sizes("cos", table, "[T, size of a head]");
  checked.require_sizes("sin", table, "[T, size of a head]");
}

void require_token_hybrid(const Tensor& x, const Tensor& parameters, int64_t streams) {
  const Arguments checked("token_hybrid", {{"x", x}, {"parameters", parameters}});
  checked.require_dims("x", 1);
  checked.require(streams > 0 && size_of(x, -1) % streams == 0,
                  "the width of x must be a multiple of the number of streams");
  checked.require_sizes("parameters", leading_with(x, {size_of(x, -1) + (2 * streams + 2)}),
                        "[..., 2n + 2 + n·d]");
}

}  // namespace edelta::ops::shapes
