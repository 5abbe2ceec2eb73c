// Decoding: sequences that grow position by position. Beside its way through whole sequences, which
// training takes, a part of a model has one through positions that follow those it has seen: on
// plain memory, without autograd, with what it must remember of them kept inside.
#pragma once

#include <cstdint>

namespace edelta::nn {

// What is kept room for.
struct DecodingRoom {
  int64_t sequences;
  int64_t positions;  // of each sequence
};

// Consecutive positions of consecutive sequences; their rows lie in the order [sequence, position].
// A stretch is either one position, or starts its sequences anew.
struct Stretch {
  int64_t sequence = 0;   // the first one
  int64_t sequences = 1;  // how many
  int64_t begin = 0;      // the first position; what is remembered ends before it
  int64_t length = 1;     // positions

  int64_t rows() const { return sequences * length; }
};

// residual + post · F(pre · LN(x)), all that folds multiplied into the maps.
class SubLayerDecoding {
 public:
  virtual ~SubLayerDecoding() = default;
  // The residual may be null, or y itself; y and x may not overlap.
  virtual void operator()(const Stretch& stretch, const float* x, const float* residual,
                          float* y) = 0;
};

}  // namespace edelta::nn
