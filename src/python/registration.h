// Ops as PyTorch's dispatcher has them: a schema, a kernel for tensors with data on any device, one
// for tensors that have only a shape, and a derivative.
//
// On tensors with data an op is called as it is: what it is made of, ATen or the fused functions,
// records its own derivative. A tracer (torch.compile, torch.export) must not look inside. For it
// an op is one node of the graph, whose derivative is another op, NAME_backward: it computes NAME
// again and goes back through it.
#pragma once

#include <torch/library.h>

#include <string>

#include "edelta/torch.h"

namespace edelta::python {

class Registration {
 public:
  explicit Registration(torch::Library& library) : library_(library) {}

  // "name(Tensor x, …) -> Tensor". `shape` makes the results for tensors without data; both check
  // their arguments.
  template <class Compute, class Shape>
  void differentiable(const std::string& schema, Compute compute, Shape shape) {
    constant(schema, compute, shape);
    add_derivative(schema);
  }

  // The same without a derivative.
  template <class Compute, class Shape>
  void constant(const std::string& schema, Compute compute, Shape shape) {
    const std::string name = name_in(schema);
    library_.def(schema.c_str());
    library_.impl(name.c_str(),
                  torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, compute));
    library_.impl(name.c_str(), torch::dispatch(c10::DispatchKey::Meta, shape));
  }

 private:
  static std::string name_in(const std::string& schema) {
    return schema.substr(0, schema.find('('));
  }
  void add_derivative(const std::string& schema);

  torch::Library& library_;
};

}  // namespace edelta::python
