#include "edelta/ops/dispatch.h"

#include <algorithm>
#include <atomic>

#include "edelta/error.h"
#include "edelta/kernels/cpu.h"

namespace edelta::ops {
namespace {

std::atomic<Implementation> chosen{Implementation::fused};

}  // namespace

Implementation implementation() { return chosen; }

void set_implementation(Implementation implementation) { chosen = implementation; }

Implementation parse_implementation(const std::string& name) {
  if (name == "composite") return Implementation::composite;
  if (name == "fused") return Implementation::fused;
  throw InputError("implementation is '" + name + "'; it must be composite or fused");
}

std::string to_string(Implementation implementation) {
  return implementation == Implementation::composite ? "composite" : "fused";
}

bool use_fused(std::initializer_list<torch::Tensor> tensors) {
  if (implementation() == Implementation::composite || kernels::isa() == kernels::Isa::none) {
    return false;
  }
  return std::all_of(tensors.begin(), tensors.end(), [](const torch::Tensor& tensor) {
    return !tensor.defined() || (tensor.is_cpu() && tensor.scalar_type() == torch::kFloat32);
  });
}

}  // namespace edelta::ops
