// Operators on streams and pooling (specification 1.4, 3).
#include "edelta/ops/streams.h"

#include "edelta/ops/pooling.h"
#include "edelta/ops/routing.h"
#include "ops/shapes.h"
#include "python/arguments.h"
#include "python/registration.h"

namespace edelta::python {
namespace {

using torch::Tensor;
namespace shapes = ops::shapes;

Tensor like(const Tensor& x) { return torch::empty_like(x, at::MemoryFormat::Contiguous); }

Tensor stream_mix(const Tensor& g, const Tensor& x) { return ops::stream_mix(g, x).contiguous(); }
Tensor stream_mix_shape(const Tensor& g, const Tensor& x) {
  shapes::require_mixer("stream_mix", "g", g, x);
  return like(x);
}

Tensor stream_mix_straight_through(const Tensor& value, const Tensor& gradient, const Tensor& x) {
  return ops::stream_mix(value, gradient, x).contiguous();
}
Tensor stream_mix_straight_through_shape(const Tensor& value, const Tensor& gradient,
                                         const Tensor& x) {
  shapes::require_mixer("stream_mix_straight_through", "value", value, x);
  shapes::require_mixer("stream_mix_straight_through", "gradient", gradient, x);
  return like(x);
}

Tensor stream_aggregate(const Tensor& w, const Tensor& x) {
  return ops::stream_aggregate(w, x).y.contiguous();
}
Tensor stream_aggregate_shape(const Tensor& w, const Tensor& x) {
  return empty_result(shapes::stream_aggregate(w, x), x);
}

Tensor stream_update(const OptionalTensor& h, const Tensor& x, const Tensor& w, const Tensor& y) {
  return ops::stream_update(or_undefined(h), x, w, y).contiguous();
}
Tensor stream_update_shape(const OptionalTensor& h, const Tensor& x, const Tensor& w,
                           const Tensor& y) {
  shapes::require_update(or_undefined(h), x, w, y);
  return like(x);
}

Tensor sequence_mean(const Tensor& x) { return ops::pool(x, ops::Pool::sequence).y.contiguous(); }
Tensor sequence_mean_shape(const Tensor& x) {
  shapes::require_sequences("sequence_mean", x);
  return empty_result({x.sym_size(0), 1, x.sym_size(2)}, x);
}
Tensor prefix_mean(const Tensor& x) { return ops::pool(x, ops::Pool::prefix).y.contiguous(); }
Tensor prefix_mean_shape(const Tensor& x) {
  shapes::require_sequences("prefix_mean", x);
  return like(x);
}

std::vector<Tensor> token_mixers(const Tensor& z, double alpha, int64_t iterations) {
  const ops::Mixers h = ops::token_mixers(z, {alpha, iterations});
  std::vector<Tensor> all{h.pre.contiguous(), h.post.contiguous()};
  if (h.h_res.defined()) all.push_back(h.h_res.contiguous());
  return all;
}
std::vector<Tensor> token_mixers_shape(const Tensor& z, double, int64_t iterations) {
  shapes::require_mixer_logits(z, iterations);
  const c10::SymInt n = z.sym_size(-1);
  std::vector<Tensor> all;
  for (int i = 0; i < 2; ++i) all.push_back(empty_result(leading_with(z, {n}, 3), z));
  if (z.sym_size(-3) == 3) all.push_back(empty_result(leading_with(z, {n, n}, 3), z));
  return all;
}

std::vector<Tensor> route(const Tensor& x, const Tensor& norm_weight,
                          const OptionalTensor& norm_bias, const Tensor& weight,
                          const OptionalTensor& bias, int64_t streams, double alpha,
                          int64_t iterations) {
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
  shapes::require_route(x, {norm_weight, or_undefined(norm_bias)}, {weight, or_undefined(bias)},
                        streams, iterations);
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
