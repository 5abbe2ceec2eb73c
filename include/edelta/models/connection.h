// A connection is what stands around a sub-layer F: the residual `x + F(LN x)` of GPT, or another.
// An architecture is a connection and nothing else: the rest of the transformer is shared.
#pragma once

#include "edelta/torch.h"

#include <memory>
#include <string>
#include <vector>

#include "edelta/models/config.h"
#include "edelta/models/sublayer.h"

namespace edelta::models {

// What one forward pass leaves behind for losses and probes.
struct Pass {
  // γ of every gated operator, in order: layer 0 attention, layer 0 MLP, layer 1 attention, …
  std::vector<torch::Tensor> gates;
  // With `record_operators`, every residual operator on streams, [B, 1 or T, n, n], in that order.
  bool record_operators = false;
  std::vector<torch::Tensor> operators;
};

class Connection {
 public:
  virtual ~Connection() = default;
  virtual torch::Tensor forward(const torch::Tensor& x, const Branch& f, Pass& pass) = 0;
  // What the general rule (weights N(0, 0.02²), biases 0, norms 1) does not do.
  virtual void initialise() {}
};

// Where a connection registers its modules: in the block itself, with the site as a suffix, so that
// parameters carry their published names ("geo_attn.u_net.0.weight").
class Site {
 public:
  Site(torch::nn::Module& block, std::string name) : block_(block), name_(std::move(name)) {}

  template <class Module>
  Module add(const std::string& name, Module module) {
    return block_.register_module(name + "_" + name_, std::move(module));
  }

 private:
  torch::nn::Module& block_;
  std::string name_;
};

}  // namespace edelta::models
