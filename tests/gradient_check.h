// Autograd against differences.
#pragma once

#include <gtest/gtest.h>
#include "edelta/torch.h"

#include <functional>
#include <vector>

#include "tensor_checks.h"

namespace edelta::test {

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

// Five-point central differences of the functional at one element:
// (8 [f(h) − f(−h)] − [f(2h) − f(−2h)]) / 12h, with an error of h⁴ f⁽⁵⁾/30.
inline double difference_quotient(const std::function<double()>& f, double* element, double h) {
  const double centre = *element;
  const auto at = [&](double step) {
    *element = centre + step;
    return f();
  };
  const double near = at(h) - at(-h);
  const double far = at(2 * h) - at(-2 * h);
  *element = centre;
  return (8 * near - far) / (12 * h);
}

// Expects autograd's gradient of a random linear functional of f, in float64, to agree with
// differences in every element of every input, relative to that input's largest gradient.
inline void expect_gradient(const Function& f, std::vector<Tensor> inputs, double tolerance = 1e-8,
                            double step = 1e-3) {
  for (Tensor& input : inputs) {
    input = input.detach().to(torch::kFloat64).clone().contiguous().requires_grad_();
  }
  const Tensor output = f(inputs);
  const Tensor direction = normal(output.sizes());
  const std::vector<Tensor> gradients = torch::autograd::grad({(direction * output).sum()}, inputs);
  const torch::NoGradGuard no_grad;
  const auto functional = [&] { return (direction * f(inputs)).sum().item<double>(); };
  for (size_t i = 0; i < inputs.size(); ++i) {
    const double size = largest(inputs[i]);
    const double h = step * (size > 0 ? size : 1);
    Tensor expected = torch::empty_like(inputs[i]);
    for (int64_t j = 0; j < inputs[i].numel(); ++j) {
      expected.data_ptr<double>()[j] =
          difference_quotient(functional, inputs[i].data_ptr<double>() + j, h);
    }
    EXPECT_GT(largest(expected), 0) << "input " << i << " has no gradient to check";
    EXPECT_LT(relative_difference(gradients[i], expected), tolerance) << "of input " << i;
  }
}

}  // namespace edelta::test
