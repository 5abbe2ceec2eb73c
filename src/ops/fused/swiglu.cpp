#include "kernels/swiglu.h"
#include "ops/fused/autograd.h"
#include "ops/fused/fused.h"

namespace edelta::ops::fused {
namespace {

using torch::autograd::Function;

// Memory for what a forward pass gives and keeps.
struct SwiGluResults {
  SwiGluResults(const Tensor& x, int64_t rows, int64_t inner, bool normed, bool keep) {
    const auto options = x.options().requires_grad(false);
    y = torch::empty(x.sizes(), options);
    if (keep) pre_activation = torch::empty({rows, 2 * inner}, options);
    if (keep && normed) rstd = torch::empty({rows}, options);
  }
  // With a norm its backward pass starts from y.
  void save(AutogradContext* context, const Tensor& x, const Tensor& gate_up,
            const Tensor& down) const {
    fused::save(context, {x, gate_up, down}, {pre_activation, rstd, rstd.defined() ? y : Tensor()});
  }

  Tensor y, pre_activation, rstd;
};

class SwiGluFunction : public Function<SwiGluFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& gate_up,
                        const Tensor& down, bool normed, double eps, bool keep) {
    const int64_t width = down.size(0), inner = down.size(1);
    const int64_t tokens = x.numel() / width;
    const SwiGluResults results(x, tokens, inner, normed, keep);
    kernels::swiglu_forward({.tokens = tokens,
                             .width = width,
                             .inner = inner,
                             .x = data(x),
                             .gate_up = data(gate_up),
                             .down = data(down),
                             .normed = normed,
                             .eps = static_cast<float>(eps),
                             .y = data(results.y),
                             .rstd = data(results.rstd),
                             .pre_activation = data(results.pre_activation)});
    if (keep) results.save(context, x, gate_up, down);
    return results.y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = saved_variables(context);
    const Tensor dy = gradients[0].contiguous();
    const int64_t width = saved[2].size(0);
    const Tensor dx = gradient_of(context, saved, 0);
    const Tensor dgate_up = gradient_of(context, saved, 1);
    const Tensor ddown = gradient_of(context, saved, 2);
    kernels::swiglu_backward({.tokens = saved[0].numel() / width,
                              .width = width,
                              .inner = saved[2].size(1),
                              .x = data(saved[0]),
                              .gate_up = data(saved[1]),
                              .down = data(saved[2]),
                              .pre_activation = data(saved[3]),
                              .y = data(saved[5]),
                              .rstd = data(saved[4]),
                              .dy = data(dy),
                              .dx = data(dx),
                              .dgate_up = data(dgate_up),
                              .ddown = data(ddown)});
    return {dx, dgate_up, ddown, {}, {}, {}};
  }
};

// x [B, T, D]
class PositionSwiGluFunction : public Function<PositionSwiGluFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& gate_up,
                        const Tensor& down, double eps, bool keep) {
    const kernels::PositionSwiGluShape shape = shape_of(x, down);
    const SwiGluResults results(x, shape.batch * shape.channels, shape.inner, true, keep);
    kernels::position_swiglu_forward({.shape = shape,
                                      .x = data(x),
                                      .gate_up = data(gate_up),
                                      .down = data(down),
                                      .eps = static_cast<float>(eps),
                                      .y = data(results.y),
                                      .rstd = data(results.rstd),
                                      .pre_activation = data(results.pre_activation)});
    if (keep) results.save(context, x, gate_up, down);
    return results.y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = saved_variables(context);
    const Tensor dy = gradients[0].contiguous();
    const Tensor dx = gradient_of(context, saved, 0);
    const Tensor dgate_up = gradient_of(context, saved, 1);
    const Tensor ddown = gradient_of(context, saved, 2);
    kernels::position_swiglu_backward({.shape = shape_of(saved[0], saved[2]),
                                       .x = data(saved[0]),
                                       .gate_up = data(saved[1]),
                                       .down = data(saved[2]),
                                       .pre_activation = data(saved[3]),
                                       .y = data(saved[5]),
                                       .rstd = data(saved[4]),
                                       .dy = data(dy),
                                       .dx = data(dx),
                                       .dgate_up = data(dgate_up),
                                       .ddown = data(ddown)});
    return {dx, dgate_up, ddown, {}, {}};
  }

 private:
  static kernels::PositionSwiGluShape shape_of(const Tensor& x, const Tensor& down) {
    return {x.size(0), x.size(1), x.size(2), down.size(1)};
  }
};

Tensor apply(const Tensor& x, const Tensor& gate_up, const Tensor& down, bool normed, double eps) {
  return SwiGluFunction::apply(x.contiguous(), gate_up.contiguous(), down.contiguous(), normed, eps,
                               will_differentiate({x, gate_up, down}));
}

}  // namespace

Tensor swiglu(const Tensor& x, const Tensor& gate_up, const Tensor& down) {
  return apply(x, gate_up, down, /*normed=*/false, 0);
}

Tensor normed_swiglu(const Tensor& x, const Tensor& gate_up, const Tensor& down, double eps) {
  return apply(x, gate_up, down, /*normed=*/true, eps);
}

Tensor normed_swiglu_over_positions(const Tensor& x, const Tensor& gate_up, const Tensor& down,
                                    double eps) {
  return PositionSwiGluFunction::apply(x.contiguous(), gate_up.contiguous(), down.contiguous(), eps,
                                       will_differentiate({x, gate_up, down}));
}

}  // namespace edelta::ops::fused
