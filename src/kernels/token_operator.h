// Operators on streams that every token computes from its own logits.
//
// The logits of a token usually lie side by side in one row of a matrix product's output, hence the
// strides: `z` points to the first token's n×n logits, the next token's are `stride` floats on.
#pragma once

#include <cstdint>

namespace edelta::kernels {

struct TokenOperatorShape {
  int64_t tokens;   // N
  int64_t streams;  // n
  int64_t stride;   // floats from one token's logits to the next one's, in z and dz; ≥ n²
};

}  // namespace edelta::kernels
