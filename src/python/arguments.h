// What ops ask of their arguments. Kernels read memory by the shapes that they expect, so every
// argument is looked at before; the messages name the op, the argument and what would be right.
// Sizes may be symbols, as tracers have them.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "edelta/torch.h"

namespace edelta::python {

using OptionalTensor = c10::optional<torch::Tensor>;
using SymSizes = std::vector<c10::SymInt>;

// An absent tensor as the library has it.
inline torch::Tensor or_undefined(const OptionalTensor& tensor) {
  return tensor ? *tensor : torch::Tensor();
}

struct Argument {
  const char* name;
  torch::Tensor tensor;  // undefined: absent
};

class Arguments {
 public:
  // Those given must be floating tensors of one dtype and device.
  Arguments(const char* op, std::vector<Argument> arguments);

  // At least so many dimensions.
  void require_dims(const char* name, int64_t least) const;
  // Exactly this shape; passed over where the argument is absent. `meaning`: "[n, n]".
  void require_sizes(const char* name, const SymSizes& sizes, const char* meaning) const;
  // The size of one dimension.
  void require_size(const char* name, int64_t dim, const c10::SymInt& size,
                    const char* meaning) const;
  void require_nonzero(const char* name, int64_t dim) const;
  void require(bool holds, const std::string& message) const;

 private:
  const torch::Tensor& at(const char* name) const;

  const char* op_;
  std::vector<Argument> arguments_;
};

// The sizes but for the last `count`, and others behind them.
SymSizes leading(const torch::Tensor& tensor, int64_t count = 1);
SymSizes leading_with(const torch::Tensor& tensor, std::initializer_list<c10::SymInt> last,
                      int64_t count = 1);

// Tensors of [..., size] with their leading dimensions broadcast to what they have in common.
std::vector<torch::Tensor> with_common_leading(const std::vector<torch::Tensor>& tensors);

// A result without data.
torch::Tensor empty_result(const SymSizes& sizes, const torch::Tensor& like);

}  // namespace edelta::python
