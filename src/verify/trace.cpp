#include "verify/trace.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "edelta/base/error.h"

namespace edelta::verify {

using base::TensorFile;
using torch::Tensor;

bool has(const TensorFile& trace, const std::string& name) { return trace.tensors.contains(name); }

base::TensorMap below(const TensorFile& trace, const std::string& prefix) {
  base::TensorMap found;
  for (const auto& [name, tensor] : trace.tensors) {
    if (name.starts_with(prefix)) found.emplace(name.substr(prefix.size()), tensor);
  }
  return found;
}

double largest_error(const Tensor& expected, const Tensor& found, bool each) {
  if (expected.numel() == 0) return 0;
  Tensor scale = expected.abs().flatten();
  if (!each) scale = scale.max();
  const Tensor difference = (found.flatten() - expected.flatten()).abs();
  const double error =
      (difference / torch::where(scale > 0, scale, torch::ones_like(scale))).max().item<double>();
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

void Comparer::add(const std::string& name, const Tensor& computed, bool is_gradient, bool each) {
  const Tensor expected = trace_.tensor(name).to(torch::kFloat64);
  const Tensor found = computed.detach().to(torch::kFloat64);
  if (found.numel() != expected.numel()) {
    throw InputError(fmt::format("{}: '{}' has {} numbers; the model computes {}", trace_.source,
                                 name, expected.numel(), found.numel()));
  }
  report_.comparisons.push_back({name, is_gradient, largest_error(expected, found, each),
                                 is_gradient ? tolerance_.gradient : tolerance_.value});
}

void compare_gradients(const torch::nn::Module& module, const TensorFile& trace,
                       const std::string& prefix, Comparer& compare) {
  for (const auto& item : module.named_parameters()) {
    const Tensor& gradient = item.value().grad();
    for (const std::string& name : {prefix + item.key(), prefix + "core." + item.key()}) {
      if (!has(trace, name)) continue;
      compare.gradient(name, gradient.defined() ? gradient : torch::zeros_like(item.value()));
    }
  }
}

}  // namespace edelta::verify
