#include "edelta/ops/implementation.h"

#include <algorithm>
#include <atomic>

#include "edelta/base/error.h"
#include "edelta/base/memory.h"
#include "kernels/cpu.h"

namespace edelta::ops {
namespace {

std::atomic<Implementation> chosen{Implementation::fused};

}  // namespace

Implementation implementation() { return chosen; }

void set_implementation(Implementation implementation) {
  chosen = implementation;
  // The composite implementation keeps libtorch's own memory, so that it stays what libtorch is.
  base::keep_tensor_memory(implementation == Implementation::fused);
}

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
    return !tensor.defined() ||
           (tensor.is_cpu() && tensor.scalar_type() == torch::kFloat32 && tensor.numel() > 0);
  });
}

bool fold_maps() { return implementation() == Implementation::fused; }

}  // namespace edelta::ops
