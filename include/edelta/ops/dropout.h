// Dropout (specification 2) with masks that are functions of their address: the key of the pass,
// the site in the model and the element's place. They depend on nothing that happens at run time,
// are the same in both implementations, and are drawn again in the backward pass instead of stored.
#pragma once

#include "edelta/torch.h"

#include <cstdint>

namespace edelta::ops {

// What the masks of one pass have in common. Where only a part of a batch is computed, its first
// sequence and token have the places that they have in the whole.
struct DropoutPass {
  uint64_t key = 0;  // another one for every batch
  int64_t first_sequence = 0;
  int64_t first_token = 0;
};

struct Dropout {
  double probability = 0;      // below 1; rounded to a multiple of 2⁻¹⁶
  uint64_t key = 0;            // of the pass
  uint32_t site = 0;           // of the place in the model: another one for every use in a pass
  int64_t first_sequence = 0;  // of the pass
  int64_t first_token = 0;     // of the pass
};

// [planes, rows, columns], from the given plane and column on: 0 where an element is dropped, 1/(1
// − probability) elsewhere.
torch::Tensor dropout_factors(const Dropout& dropout, int64_t planes, int64_t rows, int64_t columns,
                              torch::ScalarType type, int64_t first_plane = 0,
                              int64_t first_column = 0);

// x with elements dropped, the others scaled by 1/(1 − probability).
torch::Tensor drop(const torch::Tensor& x, const Dropout& dropout);

}  // namespace edelta::ops
