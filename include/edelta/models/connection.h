// A connection is what stands around a sub-layer F: the residual `x + F(LN x)` of GPT, or another.
// An architecture is a connection and nothing else: the rest of the transformer is shared.
#pragma once

#include "edelta/torch.h"

#include <memory>
#include <string>
#include <vector>

#include "edelta/models/config.h"
#include "edelta/models/model.h"
#include "edelta/nn/sublayer.h"

namespace edelta::models {

using nn::PreNormSubLayer;

// A connection for decoding, with the sub-layer inside.
class ConnectionDecoding {
 public:
  virtual ~ConnectionDecoding() = default;
  // x [rows, D] → y [rows, D], which may not overlap.
  virtual void operator()(const nn::Stretch& stretch, const float* x, float* y) = 0;
};

class Connection {
 public:
  virtual ~Connection() = default;
  // A gated operator appends its γ to `seen.gates`; an operator on streams, if asked for, itself to
  // `seen.operators`.
  virtual torch::Tensor forward(const torch::Tensor& x, const PreNormSubLayer& f, Seen& seen) = 0;
  // The same for decoding (edelta/nn/decoding.h), with the weights as they are now. Null: there is
  // none, and every new token costs a pass over the whole sequence.
  virtual std::unique_ptr<ConnectionDecoding> decoding(const PreNormSubLayer& /*f*/,
                                                       const nn::DecodingRoom& /*room*/) const {
    return nullptr;
  }
  // Learned vectors that no module has: the general rule draws them as it does weights.
  virtual std::vector<torch::Tensor> tables() const { return {}; }
  // What the general rule (weights N(0, 0.02²), biases 0, norms 1) does not do.
  virtual void initialise() {}
  // Entries of the connection's matrices that each of T tokens is multiplied with, on average, for
  // the cost of a step: what folds into the sub-layer's maps costs nothing, and what an operator
  // for the whole sequence is made with is divided by T.
  virtual double weights_per_token(int64_t /*length*/) const { return 0; }
};

// Where a connection registers its modules: in the block itself, with the site as a suffix, so that
// parameters carry their published names ("geo_attn.u_net.0.weight").
class Site {
 public:
  Site(torch::nn::Module& block, std::string name) : block_(block), name_(std::move(name)) {}

  // "attn" or "mlp".
  const std::string& name() const { return name_; }

  template <class Module>
  Module add(const std::string& name, Module module) {
    return block_.register_module(name + "_" + name_, std::move(module));
  }

 private:
  torch::nn::Module& block_;
  std::string name_;
};

// The entries of a module's matrices; vectors (biases, norms) do not count.
double matrix_entries(const torch::nn::Module& module);

}  // namespace edelta::models
