// What ops ask of their arguments. Kernels read memory by the shapes that they expect, so every
// argument is looked at before; the messages name the op, the argument and what would be right.
// Sizes may be symbols, as tracers have them.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "edelta/torch.h"

namespace edelta::ops {

using SymSizes = std::vector<c10::SymInt>;

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

// One of a tensor's sizes, without the dispatcher, which sym_size would ask.
c10::SymInt size_of(const torch::Tensor& tensor, int64_t dim);

// The sizes but for the last `count`, and others behind them.
SymSizes leading(const torch::Tensor& tensor, int64_t count = 1);
SymSizes leading_with(const torch::Tensor& tensor, std::initializer_list<c10::SymInt> last,
                      int64_t count = 1);

}  // namespace edelta::ops
