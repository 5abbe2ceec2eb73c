#include "edelta/train/optimiser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "edelta/base/error.h"

namespace edelta::train {
namespace {

using torch::Tensor;

// As in PyTorch's clip_grad_norm_.
constexpr double kClipEps = 1e-6;

double squared_sum(const Tensor& tensor) {
  return tensor.to(torch::kFloat64).square().sum().item<double>();
}

}  // namespace

AdamW::AdamW(models::Model& model, const Protocol& protocol) : protocol_(protocol) {
  int64_t total = 0;
  for (const auto& item : model.named_parameters()) total += item.value().numel();
  const auto options = model.parameters().front().options().requires_grad(false);
  const Tensor first = torch::zeros({total}, options);
  const Tensor second = torch::zeros({total}, options);
  int64_t at = 0;
  for (const auto& item : model.named_parameters()) {
    const Tensor& value = item.value();
    const auto part = [&](const Tensor& flat) {
      return flat.narrow(0, at, value.numel()).view(value.sizes());
    };
    parameters_.push_back({item.key(), value, part(first), part(second),
                           value.dim() >= 2 ? protocol.weight_decay : 0});
    at += value.numel();
  }
}

std::vector<ops::OptimisedTensor> AdamW::tensors() const {
  std::vector<ops::OptimisedTensor> tensors;
  for (const Parameter& parameter : parameters_) {
    tensors.push_back({parameter.value, parameter.value.grad(), parameter.first, parameter.second,
                       parameter.weight_decay});
  }
  return tensors;
}

double AdamW::gradient_norm() const { return std::sqrt(ops::squared_norm(tensors())); }

double AdamW::parameter_norm() const {
  double total = 0;
  for (const Parameter& parameter : parameters_) total += squared_sum(parameter.value.detach());
  return std::sqrt(total);
}

void AdamW::step(double learning_rate, double gradient_norm) {
  ++steps_;
  const double scale =
      protocol_.grad_clip > 0 ? std::min(1.0, protocol_.grad_clip / (gradient_norm + kClipEps)) : 1;
  ops::adamw_step(tensors(), {.t = steps_,
                              .learning_rate = learning_rate,
                              .beta1 = protocol_.beta1,
                              .beta2 = protocol_.beta2,
                              .eps = protocol_.eps,
                              .gradient_scale = scale});
}

void AdamW::zero_gradients() {
  for (Parameter& parameter : parameters_) parameter.value.mutable_grad() = Tensor();
}

std::string AdamW::first_non_finite_gradient() const {
  for (const Parameter& parameter : parameters_) {
    const Tensor& gradient = parameter.value.grad();
    if (gradient.defined() && !gradient.isfinite().all().item<bool>()) return parameter.name;
  }
  return {};
}

base::TensorMap AdamW::state() const {
  base::TensorMap state;
  for (const Parameter& parameter : parameters_) {
    state.emplace("first/" + parameter.name, parameter.first);
    state.emplace("second/" + parameter.name, parameter.second);
  }
  return state;
}

void AdamW::load_state(const base::TensorMap& state, int64_t steps, const std::string& source) {
  const auto load = [&](const std::string& name, Tensor& target) {
    const auto found = state.find(name);
    if (found == state.end() || found->second.sizes() != target.sizes()) {
      throw InputError(
          fmt::format("{}: the optimiser's '{}' is missing or misshapen", source, name));
    }
    target.copy_(found->second);
  };
  const torch::NoGradGuard no_grad;
  for (Parameter& parameter : parameters_) {
    load("first/" + parameter.name, parameter.first);
    load("second/" + parameter.name, parameter.second);
  }
  steps_ = steps;
}

}  // namespace edelta::train
