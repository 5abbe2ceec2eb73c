// What the autograd functions around a linear layer with a norm share: the layer's arguments for
// the kernels, its saved tensors and its gradients.
#pragma once

#include "edelta/ops/linear.h"
#include "kernels/linear.h"
#include "ops/fused/autograd.h"

namespace edelta::ops::fused {

// The layer's inputs, in the order in which they are saved.
struct LinearInputs {
  const Tensor& x;
  const OptionalTensor& norm_weight;
  const OptionalTensor& norm_bias;
  const Tensor& weight;
  const OptionalTensor& bias;
};

inline kernels::LinearForward linear_forward_arguments(const LinearInputs& inputs, bool rms,
                                                       double eps, const Statistics& statistics,
                                                       const Tensor& y) {
  const int64_t in = inputs.weight.size(1);
  return {.tokens = inputs.x.numel() / in,
          .in = in,
          .out = inputs.weight.size(0),
          .x = data(inputs.x),
          .norm_weight = data(inputs.norm_weight),
          .norm_bias = data(inputs.norm_bias),
          .rms = rms,
          .eps = static_cast<float>(eps),
          .weight = data(inputs.weight),
          .bias = data(inputs.bias),
          .y = data(y),
          .mean = data(statistics.mean),
          .rstd = data(statistics.rstd)};
}

// Saves the layer, with `others` behind its seven tensors.
inline void save_linear(AutogradContext* context, const LinearInputs& inputs, bool rms,
                        const Statistics& statistics, std::initializer_list<Tensor> others = {}) {
  variable_list more{statistics.mean, statistics.rstd};
  more.insert(more.end(), others);
  save(context, {inputs.x, inputs.norm_weight, inputs.norm_bias, inputs.weight, inputs.bias}, more);
  context->saved_data["rms"] = rms;
}

// Memory for the gradients that are wanted.
struct LinearGradients {
  LinearGradients() = default;
  LinearGradients(AutogradContext* context, const variable_list& saved)
      : dx(gradient_of(context, saved, 0)),
        dnorm_weight(gradient_of(context, saved, 1)),
        dnorm_bias(gradient_of(context, saved, 2)),
        dweight(gradient_of(context, saved, 3)),
        dbias(gradient_of(context, saved, 4)) {}
  // In the order in which the inputs are saved.
  std::vector<Tensor> list() const { return {dx, dnorm_weight, dnorm_bias, dweight, dbias}; }

  Tensor dx, dnorm_weight, dnorm_bias, dweight, dbias;
};

inline kernels::LinearBackward linear_backward_arguments(AutogradContext* context,
                                                         const variable_list& saved,
                                                         const LinearGradients& gradients) {
  const int64_t in = saved[3].size(1);
  return {.tokens = saved[0].numel() / in,
          .in = in,
          .out = saved[3].size(0),
          .x = data(saved[0]),
          .norm_weight = data(saved[1]),
          .norm_bias = data(saved[2]),
          .rms = context->saved_data["rms"].toBool(),
          .mean = data(saved[5]),
          .rstd = data(saved[6]),
          .weight = data(saved[3]),
          .dx = data(gradients.dx),
          .dweight = data(gradients.dweight),
          .dbias = data(gradients.dbias),
          .dnorm_weight = data(gradients.dnorm_weight),
          .dnorm_bias = data(gradients.dnorm_bias)};
}

}  // namespace edelta::ops::fused
