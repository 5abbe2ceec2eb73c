#include "kernels/route.h"
#include "ops/fused/autograd.h"
#include "ops/fused/fused.h"
#include "ops/fused/linear_arguments.h"

namespace edelta::ops::fused {
namespace {

using torch::autograd::Function;

// The gradient of an output with `sizes`, zero where the output was not used.
Tensor given_or_zero(const Tensor& gradient, const std::vector<int64_t>& sizes,
                     const Tensor& like) {
  return gradient.defined() ? gradient.contiguous() : torch::zeros(sizes, like.options());
}

// Returns the aggregate, post, x passed on, whose gradient is that of H_res x, and H_res if there
// are logits for it.
class RouteFunction : public Function<RouteFunction> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& x,
                               const OptionalTensor& norm_weight, const OptionalTensor& norm_bias,
                               bool rms, double eps, const Tensor& weight,
                               const OptionalTensor& bias, int64_t streams, double alpha,
                               int64_t iterations, bool keep) {
    const LinearInputs inputs{x, norm_weight, norm_bias, weight, bias};
    const int64_t in = weight.size(1);
    const int64_t out = weight.size(0);
    const bool mixes = out == 3 * streams * streams;
    const auto options = x.options().requires_grad(false);
    const Statistics statistics(keep && norm_weight, x.numel() / in, x);
    const Tensor z = torch::empty(with_last(x, out), options);
    const Tensor pre = torch::empty(with_last(x, streams), options);
    const Tensor post = torch::empty_like(pre);
    std::vector<int64_t> operators = pre.sizes().vec();
    operators.push_back(streams);
    const Tensor h_res = mixes ? torch::empty(operators, options) : Tensor();
    const Tensor aggregate = torch::empty(with_last(x, in / streams), options);
    kernels::route_forward({.logits = linear_forward_arguments(inputs, rms, eps, statistics, z),
                            .streams = streams,
                            .iterations = iterations,
                            .alpha = static_cast<float>(alpha),
                            .pre = data(pre),
                            .post = data(post),
                            .h_res = data(h_res),
                            .aggregate = data(aggregate)});
    if (keep) {
      save_linear(context, inputs, rms, statistics, {z, pre, h_res});
      context->saved_data["alpha"] = alpha;
      context->saved_data["iterations"] = iterations;
      context->set_materialize_grads(false);
    }
    return mixes ? variable_list{aggregate, post, x, h_res} : variable_list{aggregate, post, x};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = saved_variables(context);
    const Tensor& x = saved[0];
    const Tensor& pre = saved[8];
    const int64_t in = saved[3].size(1);
    const int64_t streams = pre.size(-1);
    const Tensor daggregate = given_or_zero(gradients[0], with_last(x, in / streams), x);
    const Tensor dpost = given_or_zero(gradients[1], with_last(x, streams), x);
    const Tensor dmixed = given_or_zero(gradients[2], with_last(x, in), x);
    const Tensor dh_res =
        gradients.size() > 3 && gradients[3].defined() ? gradients[3].contiguous() : Tensor();
    const LinearGradients g(context, saved);
    kernels::route_backward({.logits = linear_backward_arguments(context, saved, g),
                             .streams = streams,
                             .iterations = context->saved_data["iterations"].toInt(),
                             .alpha = static_cast<float>(context->saved_data["alpha"].toDouble()),
                             .z = data(saved[7]),
                             .pre = data(pre),
                             .h_res = data(saved[9]),
                             .dpost = data(dpost),
                             .daggregate = data(daggregate),
                             .dh_res = data(dh_res),
                             .dmixed = data(dmixed)});
    return {g.dx, g.dnorm_weight, g.dnorm_bias, {}, {}, g.dweight, g.dbias, {}, {}, {}, {}};
  }
};

}  // namespace

Routed route(const Tensor& x, const Norm& norm, const Affine& map, int64_t streams,
             const CayleyIteration& cayley) {
  const variable_list all = RouteFunction::apply(
      x.contiguous(), optional(norm.weight), optional(norm.bias), norm.rms, norm.eps(),
      map.weight.contiguous(), optional(map.bias), streams, cayley.alpha, cayley.iterations,
      will_differentiate({x, norm.weight, norm.bias, map.weight, map.bias}));
  const Tensor h_res = all.size() > 3 ? all[3] : Tensor();
  return {all[0], all[1], h_res, [post = all[1], x = all[2], h_res](const Tensor& y) {
            return stream_update(h_res, x, post, y, MixGradient::of_route);
          }};
}

}  // namespace edelta::ops::fused
