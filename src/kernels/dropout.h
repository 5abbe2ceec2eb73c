// Dropout masks that are functions of an address, not of the order in which they are drawn: every
// thread, both passes and both implementations find the same ones.
//
// An element (plane, row, column) of a site has 16 bits of its own. Eight neighbours in a row share
// a block of Philox4x32-10: its key is that of the pass, its counter (column / 8, row, plane,
// site), and column % 8 chooses a half of its words, the low one of a word first. Rows therefore
// suit the lanes of a vector, and a vector of blocks is a strip of 8 columns. Sixteen bits halve
// the cost of the masks; the probability is then a multiple of 2⁻¹⁶.
#pragma once

#include <cstdint>

namespace edelta::kernels {

constexpr int64_t kDropoutBlock = 8;

struct DropoutMask {
  uint32_t threshold = 0;  // an element whose bits are below it is dropped; 0: none is
  float scale = 1;         // of what is kept: 1 / (1 − threshold/2¹⁶), which keeps the mean
  uint64_t key = 0;
  uint32_t site = 0;
  // Where a computation's own planes and columns begin: it may be a part of a larger one.
  int64_t first_plane = 0;
  int64_t first_column = 0;

  bool drops() const { return threshold > 0; }
};

DropoutMask dropout_mask(double probability, uint64_t key, uint32_t site);

// The factors, 0 or mask.scale, of the first `columns` elements of a row; on any CPU.
void dropout_factors(const DropoutMask& mask, int64_t plane, int64_t row, int64_t columns,
                     float* factors);

// y = factors ∘ x for rows of channels: here a token is the mask's column and a channel its row.
struct DropRows {
  int64_t tokens = 0;
  int64_t width = 0;
  DropoutMask dropout = {};
  const float* x = nullptr;  // [tokens, width]
  float* y = nullptr;        // [tokens, width]
};
void drop_rows(const DropRows& arguments);

}  // namespace edelta::kernels
