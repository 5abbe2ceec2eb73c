// The one policy for implementations.
//
// Every op exists twice behind one name: a composite version written with ATen (any dtype, reads
// like its formula, the oracle in tests) and a fused one on the kernels (CPU, float32). All that
// depends on the choice asks here: the ops, the maps that fold into each other, the optimiser, and
// the memory of tensors.
#pragma once

#include "edelta/torch.h"

#include <initializer_list>
#include <string>

namespace edelta::ops {

enum class Implementation { composite, fused };

// The implementation asked for by this process. A fused op still takes the composite path where its
// kernels do not apply (another dtype or device, a CPU without AVX2).
Implementation implementation();
void set_implementation(Implementation implementation);

Implementation parse_implementation(const std::string& name);
std::string to_string(Implementation implementation);

// Whether the fused kernels take these tensors, which must not be empty; undefined ones (an absent
// bias) are passed over.
bool use_fused(std::initializer_list<torch::Tensor> tensors);

// Whether neighbouring linear maps are multiplied into one before the tokens see them. It is
// algebra and holds in every dtype; the composite implementation keeps the formula as it is
// written.
bool fold_maps();

}  // namespace edelta::ops
