#include "edelta/nn/norm.h"

namespace edelta::nn {

LayerNorm::LayerNorm(int64_t width, bool bias)
    : weight_(register_parameter("weight", torch::ones({width}))) {
  if (bias) bias_ = register_parameter("bias", torch::zeros({width}));
}

RmsNorm::RmsNorm(int64_t width) : weight_(register_parameter("weight", torch::ones({width}))) {}

}  // namespace edelta::nn
