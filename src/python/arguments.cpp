#include "python/arguments.h"

#include <algorithm>

namespace edelta::python {

using torch::Tensor;

std::vector<Tensor> with_common_leading(const std::vector<Tensor>& tensors) {
  const SymSizes first = leading(tensors.front());
  if (std::all_of(tensors.begin(), tensors.end(),
                  [&](const Tensor& tensor) { return leading(tensor) == first; })) {
    return tensors;
  }
  std::vector<Tensor> batches, expanded;
  for (const Tensor& tensor : tensors) batches.push_back(tensor.detach().select(-1, 0));
  const Tensor common = at::broadcast_tensors(batches).front();
  for (const Tensor& tensor : tensors) {
    SymSizes sizes(common.sym_sizes().begin(), common.sym_sizes().end());
    sizes.push_back(tensor.sym_size(-1));
    expanded.push_back(tensor.expand_symint(sizes));
  }
  return expanded;
}

Tensor empty_result(const SymSizes& sizes, const Tensor& like) {
  return at::empty_symint(sizes, like.options().requires_grad(false));
}

}  // namespace edelta::python
