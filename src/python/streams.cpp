// Operators on streams and pooling (specification 1.4, 3).
#include "edelta/ops/streams.h"

#include "edelta/ops/pooling.h"
#include "edelta/ops/routing.h"
#include "python/arguments.h"
#include "python/registration.h"

namespace edelta::python {
namespace {

using torch::Tensor;

// [B, T, D] with D a multiple of n.
void require_tokens(const Arguments& checked, const Tensor& x, const c10::SymInt& streams) {
  checked.require_dims("x", 3);
  checked.require(x.dim() == 3, "x must have the shape [B, T, n·d]");
  checked.require_nonzero("x", -1);
  checked.require(streams > 0 && x.sym_size(-1) % streams == 0,
                  "the width of x must be a multiple of the number of streams");
}

void require_mixer(const char* op, const char* name, const Tensor& g, const Tensor& x) {
  const Arguments checked(op, {{"x", x}, {name, g}});
  checked.require(g.dim() == 4, std::string(name) + " must have the shape [B, 1 or T, n, n]");
  checked.require_nonzero(name, -1);
  checked.require_size(name, -2, g.sym_size(-1), "[B, 1 or T, n, n]");
  require_tokens(checked, x, g.sym_size(-1));
  checked.require_size(name, 0, x.sym_size(0), "[B, 1 or T, n, n]");
  if (g.sym_size(1) != 1) {
    checked.require_size(name, 1, x.sym_size(1), "[B, 1 or T, n, n]");
  }
}

Tensor like(const Tensor& x) { return torch::empty_like(x, at::MemoryFormat::Contiguous); }

Tensor stream_mix(const Tensor& g, const Tensor& x) {
  require_mixer("stream_mix", "g", g, x);
  return ops::stream_mix(g, x).contiguous();
}
Tensor stream_mix_shape(const Tensor& g, const Tensor& x) {
  require_mixer("stream_mix", "g", g, x);
  return like(x);
}

void require_mixers(const Tensor& value, const Tensor& gradient, const Tensor& x) {
  require_mixer("stream_mix_straight_through", "value", value, x);
  require_mixer("stream_mix_straight_through", "gradient", gradient, x);
}
Tensor stream_mix_straight_through(const Tensor& value, const Tensor& gradient, const Tensor& x) {
  require_mixers(value, gradient, x);
  return ops::stream_mix(value, gradient, x).contiguous();
}
Tensor stream_mix_straight_through_shape(const Tensor& value, const Tensor& gradient,
                                         const Tensor& x) {
  require_mixers(value, gradient, x);
  return like(x);
}

void require_weights(const Arguments& checked, const Tensor& w, const Tensor& x) {
  checked.require_dims("w", 3);
  require_tokens(checked, x, w.sym_size(-1));
  checked.require_sizes("w", leading_with(x, {w.sym_size(-1)}), "[B, T, n]");
}

Tensor stream_aggregate(const Tensor& w, const Tensor& x) {
  require_weights({"stream_aggregate", {{"x", x}, {"w", w}}}, w, x);
  return ops::stream_aggregate(w, x).y.contiguous();
}
Tensor stream_aggregate_shape(const Tensor& w, const Tensor& x) {
  require_weights({"stream_aggregate", {{"x", x}, {"w", w}}}, w, x);
  return empty_result(leading_with(x, {x.sym_size(-1) / w.sym_size(-1)}), x);
}

void require_update(const OptionalTensor& h, const Tensor& x, const Tensor& w, const Tensor& y) {
  const Arguments checked("stream_update", {{"x", x}, {"h", or_undefined(h)}, {"w", w}, {"y", y}});
  require_weights(checked, w, x);
  const c10::SymInt n = w.sym_size(-1);
  checked.require_sizes("h", leading_with(x, {n, n}), "[B, T, n, n]");
  checked.require_dims("y", 3);
  const bool shared = y.sym_size(-1) != x.sym_size(-1);
  checked.require_sizes("y", leading_with(x, {shared ? x.sym_size(-1) / n : x.sym_size(-1)}),
                        shared ? "[B, T, d]" : "[B, T, n·d]");
}
Tensor stream_update(const OptionalTensor& h, const Tensor& x, const Tensor& w, const Tensor& y) {
  require_update(h, x, w, y);
  return ops::stream_update(or_undefined(h), x, w, y).contiguous();
}
Tensor stream_update_shape(const OptionalTensor& h, const Tensor& x, const Tensor& w,
                           const Tensor& y) {
  require_update(h, x, w, y);
  return like(x);
}

void require_sequences(const char* op, const Tensor& x) {
  const Arguments checked(op, {{"x", x}});
  checked.require(x.dim() == 3, "x must have the shape [B, T, D]");
  checked.require_nonzero("x", 1);
  checked.require_nonzero("x", 2);
}
Tensor sequence_mean(const Tensor& x) {
  require_sequences("sequence_mean", x);
  return ops::pool(x, ops::Pool::sequence).y.contiguous();
}
Tensor sequence_mean_shape(const Tensor& x) {
  require_sequences("sequence_mean", x);
  return empty_result({x.sym_size(0), 1, x.sym_size(2)}, x);
}
Tensor prefix_mean(const Tensor& x) {
  require_sequences("prefix_mean", x);
  return ops::pool(x, ops::Pool::prefix).y.contiguous();
}
Tensor prefix_mean_shape(const Tensor& x) {
  require_sequences("prefix_mean", x);
  return like(x);
}

// The number of matrices in z.
void require_logits(const Tensor& z, int64_t iterations) {
  const Arguments checked("token_mixers", {{"z", z}});
  checked.require_dims("z", 3);
  checked.require_nonzero("z", -1);
  checked.require_size("z", -2, z.sym_size(-1), "[..., 2 or 3, n, n]");
  checked.require(z.sym_size(-3) == 2 || z.sym_size(-3) == 3,
                  "z must have the shape [..., 2 or 3, n, n]");
  checked.require(iterations >= 0, "iterations must not be negative");
}
std::vector<Tensor> token_mixers(const Tensor& z, double alpha, int64_t iterations) {
  require_logits(z, iterations);
  const ops::Mixers h = ops::token_mixers(z, {alpha, iterations});
  std::vector<Tensor> all{h.pre.contiguous(), h.post.contiguous()};
  if (h.h_res.defined()) all.push_back(h.h_res.contiguous());
  return all;
}
std::vector<Tensor> token_mixers_shape(const Tensor& z, double, int64_t iterations) {
  require_logits(z, iterations);
  const c10::SymInt n = z.sym_size(-1);
  std::vector<Tensor> all;
  for (int i = 0; i < 2; ++i) all.push_back(empty_result(leading_with(z, {n}, 3), z));
  if (z.sym_size(-3) == 3) all.push_back(empty_result(leading_with(z, {n, n}, 3), z));
  return all;
}

void require_route(const Tensor& x, const Tensor& norm_weight, const OptionalTensor& norm_bias,
                   const Tensor& weight, const OptionalTensor& bias, int64_t streams,
                   int64_t iterations) {
  const Arguments checked("route", {{"x", x},
                                    {"norm_weight", norm_weight},
                                    {"norm_bias", or_undefined(norm_bias)},
                                    {"weight", weight},
                                    {"bias", or_undefined(bias)}});
  require_tokens(checked, x, streams);
  const c10::SymInt width = x.sym_size(-1);
  checked.require_sizes("norm_weight", {width}, "[D]");
  checked.require_sizes("norm_bias", {width}, "[D]");
  checked.require(weight.dim() == 2 && (weight.sym_size(0) == 2 * streams * streams ||
                                        weight.sym_size(0) == 3 * streams * streams),
                  "weight must have the shape [2·n² or 3·n², D]");
  checked.require_sizes("weight", {weight.sym_size(0), width}, "[2·n² or 3·n², D]");
  checked.require_sizes("bias", {weight.sym_size(0)}, "[2·n² or 3·n²]");
  checked.require(iterations >= 0, "iterations must not be negative");
}
std::vector<Tensor> route(const Tensor& x, const Tensor& norm_weight,
                          const OptionalTensor& norm_bias, const Tensor& weight,
                          const OptionalTensor& bias, int64_t streams, double alpha,
                          int64_t iterations) {
  require_route(x, norm_weight, norm_bias, weight, bias, streams, iterations);
  const ops::Routed routed = ops::route(x, {norm_weight, or_undefined(norm_bias)},
                                        {weight, or_undefined(bias)}, streams, {alpha, iterations});
  std::vector<Tensor> all{routed.aggregate.contiguous(), routed.post.contiguous()};
  if (routed.h_res.defined()) all.push_back(routed.h_res.contiguous());
  return all;
}
std::vector<Tensor> route_shape(const Tensor& x, const Tensor& norm_weight,
                                const OptionalTensor& norm_bias, const Tensor& weight,
                                const OptionalTensor& bias, int64_t streams, double,
                                int64_t iterations) {
  require_route(x, norm_weight, norm_bias, weight, bias, streams, iterations);
  std::vector<Tensor> all{empty_result(leading_with(x, {x.sym_size(-1) / streams}), x),
                          empty_result(leading_with(x, {streams}), x)};
  if (weight.sym_size(0) == 3 * streams * streams) {
    all.push_back(empty_result(leading_with(x, {streams, streams}), x));
  }
  return all;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(edelta, library) {
  Registration add(library);
  add.differentiable("stream_mix(Tensor g, Tensor x) -> Tensor", &stream_mix, &stream_mix_shape);
  add.differentiable(
      "stream_mix_straight_through(Tensor value, Tensor gradient, Tensor x) -> Tensor",
      &stream_mix_straight_through, &stream_mix_straight_through_shape);
  add.differentiable("stream_aggregate(Tensor w, Tensor x) -> Tensor", &stream_aggregate,
                     &stream_aggregate_shape);
  add.differentiable("stream_update(Tensor? h, Tensor x, Tensor w, Tensor y) -> Tensor",
                     &stream_update, &stream_update_shape);
  add.differentiable("sequence_mean(Tensor x) -> Tensor", &sequence_mean, &sequence_mean_shape);
  add.differentiable("prefix_mean(Tensor x) -> Tensor", &prefix_mean, &prefix_mean_shape);
  add.differentiable("token_mixers(Tensor z, float alpha=0.1, int iterations=2) -> Tensor[]",
                     &token_mixers, &token_mixers_shape);
  // The way back into the streams is stream_update.
  add.differentiable(
      "route(Tensor x, Tensor norm_weight, Tensor? norm_bias, Tensor weight, Tensor? bias, "
      "int streams, float alpha=0.1, int iterations=2) -> Tensor[]",
      &route, &route_shape);
}

}  // namespace edelta::python
