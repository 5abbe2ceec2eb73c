#include "edelta/train/optimiser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "edelta/error.h"
#include "edelta/kernels/adamw.h"
#include "edelta/kernels/cpu.h"

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

bool AdamW::fused() const {
  return kernels::isa() != kernels::Isa::none &&
         std::all_of(parameters_.begin(), parameters_.end(), [](const Parameter& parameter) {
           return parameter.value.is_cpu() && parameter.value.scalar_type() == torch::kFloat32 &&
                  parameter.value.is_contiguous();
         });
}

double AdamW::gradient_norm() const {
  double total = 0;
  if (fused()) {
    const Segments flat = segments();
    kernels::squared_norm({.segments = flat.list.data(),
                           .segment_count = static_cast<int64_t>(flat.list.size()),
                           .total = &total});
    return std::sqrt(total);
  }
  for (const Parameter& parameter : parameters_) {
    if (parameter.value.grad().defined()) total += squared_sum(parameter.value.grad());
  }
  return std::sqrt(total);
}

double AdamW::parameter_norm() const {
  double total = 0;
  for (const Parameter& parameter : parameters_) total += squared_sum(parameter.value.detach());
  return std::sqrt(total);
}

void AdamW::step(double learning_rate, double gradient_norm) {
  ++steps_;
  const double scale =
      protocol_.grad_clip > 0 ? std::min(1.0, protocol_.grad_clip / (gradient_norm + kClipEps)) : 1;
  const torch::NoGradGuard no_grad;
  if (fused()) {
    fused_step(learning_rate, scale);
  } else {
    composite_step(learning_rate, scale);
  }
}

AdamW::Segments AdamW::segments() const {
  Segments segments;
  for (const Parameter& parameter : parameters_) {
    if (!parameter.value.grad().defined()) continue;
    segments.gradients.push_back(parameter.value.grad().contiguous());
    segments.list.push_back({.parameter = parameter.value.data_ptr<float>(),
                             .gradient = segments.gradients.back().data_ptr<float>(),
                             .first_moment = parameter.first.data_ptr<float>(),
                             .second_moment = parameter.second.data_ptr<float>(),
                             .count = parameter.value.numel(),
                             .weight_decay = static_cast<float>(parameter.weight_decay)});
  }
  return segments;
}

void AdamW::fused_step(double learning_rate, double scale) {
  const Segments flat = segments();
  const auto t = static_cast<double>(steps_);
  kernels::adamw_step({.segments = flat.list.data(),
                       .segment_count = static_cast<int64_t>(flat.list.size()),
                       .learning_rate = learning_rate,
                       .beta1 = protocol_.beta1,
                       .beta2 = protocol_.beta2,
                       .eps = protocol_.eps,
                       .bias_correction1 = 1 - std::pow(protocol_.beta1, t),
                       .bias_correction2 = 1 - std::pow(protocol_.beta2, t),
                       .gradient_scale = scale});
}

void AdamW::composite_step(double learning_rate, double scale) {
  const auto t = static_cast<double>(steps_);
  const double correction1 = 1 - std::pow(protocol_.beta1, t);
  const double correction2 = 1 - std::pow(protocol_.beta2, t);
  for (Parameter& parameter : parameters_) {
    if (!parameter.value.grad().defined()) continue;
    const Tensor gradient = scale * parameter.value.grad();
    parameter.value.mul_(1 - learning_rate * parameter.weight_decay);
    parameter.first.mul_(protocol_.beta1).add_(gradient, 1 - protocol_.beta1);
    parameter.second.mul_(protocol_.beta2).addcmul_(gradient, gradient, 1 - protocol_.beta2);
    const Tensor denominator =
        (parameter.second.sqrt() / std::sqrt(correction2)).add_(protocol_.eps);
    parameter.value.addcdiv_(parameter.first, denominator, -learning_rate / correction1);
  }
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

io::TensorMap AdamW::state() const {
  io::TensorMap state;
  for (const Parameter& parameter : parameters_) {
    state.emplace("first/" + parameter.name, parameter.first);
    state.emplace("second/" + parameter.name, parameter.second);
  }
  return state;
}

void AdamW::load_state(const io::TensorMap& state, int64_t steps, const std::string& source) {
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
