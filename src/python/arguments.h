// Arguments as PyTorch's dispatcher hands them over, and results for tracers.
#pragma once

#include <vector>

#include "edelta/torch.h"
#include "ops/arguments.h"

namespace edelta::python {

using ops::Argument;
using ops::Arguments;
using ops::leading;
using ops::leading_with;
using ops::SymSizes;
using OptionalTensor = c10::optional<torch::Tensor>;

// An absent tensor as the library has it.
inline torch::Tensor or_undefined(const OptionalTensor& tensor) {
  return tensor ? *tensor : torch::Tensor();
}

// Tensors of [..., size] with their leading dimensions broadcast to what they have in common.
std::vector<torch::Tensor> with_common_leading(const std::vector<torch::Tensor>& tensors);

// A result without data.
torch::Tensor empty_result(const SymSizes& sizes, const torch::Tensor& like);

}  // namespace edelta::python
