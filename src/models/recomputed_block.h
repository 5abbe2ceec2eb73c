// A block that keeps nothing but what goes into it for the backward pass, which computes the rest
// again: memory for time.
#pragma once

#include <memory>

#include "models/transformer.h"

namespace edelta::models {

// What block->forward(x, pass, seen) gives, and the same gradients to the last bit: kernels sum in
// one order, and dropout masks are functions of their place.
torch::Tensor forward_recomputed(const std::shared_ptr<Block>& block, const torch::Tensor& x,
                                 const ops::DropoutPass& pass, Seen& seen);

}  // namespace edelta::models
