#include "edelta/geometry/modules.h"

namespace edelta::geometry {

LayerNorm::LayerNorm(int64_t width, bool bias)
    : weight_(register_parameter("weight", torch::ones({width}))) {
  if (bias) bias_ = register_parameter("bias", torch::zeros({width}));
}

Net::Net(int64_t in, int64_t hidden, int64_t out)
    : first_(register_module("0", torch::nn::Linear(in, hidden))),
      second_(register_module("2", torch::nn::Linear(hidden, out))) {}

torch::Tensor Net::forward(const torch::Tensor& x) const {
  return ops::mlp(x, {}, {first_->weight, first_->bias}, {second_->weight, second_->bias});
}

}  // namespace edelta::geometry
