// A trace of another implementation, and what was computed beside it.
#pragma once

#include "edelta/torch.h"

#include <string>

#include "edelta/base/safetensors.h"
#include "edelta/verify/parity.h"

namespace edelta::verify {

bool has(const base::TensorFile& trace, const std::string& name);

// The tensors below a prefix, without it.
base::TensorMap below(const base::TensorFile& trace, const std::string& prefix);

// The largest difference, relative to the largest of `expected` or, with `each`, to each number of
// it (absolute where that is zero); infinite where a number is not finite.
double largest_error(const torch::Tensor& expected, const torch::Tensor& found, bool each = false);

// Compares computed tensors with those of one trace.
class Comparer {
 public:
  Comparer(const base::TensorFile& trace, ParityTolerance tolerance, ParityReport& report)
      : trace_(trace), tolerance_(tolerance), report_(report) {}

  void value(const std::string& name, const torch::Tensor& computed) {
    add(name, computed, false, false);
  }
  void gradient(const std::string& name, const torch::Tensor& computed) {
    add(name, computed, true, false);
  }
  // Relative to each number instead of the largest: the steps of a run differ in size.
  void each_value(const std::string& name, const torch::Tensor& computed) {
    add(name, computed, false, true);
  }

 private:
  void add(const std::string& name, const torch::Tensor& computed, bool is_gradient, bool each);

  const base::TensorFile& trace_;
  ParityTolerance tolerance_;
  ParityReport& report_;
};

// Of all parameters whose gradients the trace has below the prefix.
void compare_gradients(const torch::nn::Module& module, const base::TensorFile& trace,
                       const std::string& prefix, Comparer& compare);

}  // namespace edelta::verify
