// y = words[token] + positions[t]: the embedding of sequences of tokens.
#pragma once

#include <cstdint>

namespace edelta::kernels {

struct EmbeddingForward {
  int64_t tokens = 0;  // of all sequences
  int64_t length = 0;  // of a sequence
  int64_t width = 0;
  const int64_t* token = nullptr;    // [tokens]
  const float* words = nullptr;      // [vocabulary, width]
  const float* positions = nullptr;  // [length or more, width]
  float* y = nullptr;                // [tokens, width]
};

// `order` lists the tokens by their word, those of one word as they come in the sequences: then
// every row of dwords that changes is written once, and no other row is touched.
struct EmbeddingBackward {
  int64_t tokens = 0;
  int64_t length = 0;
  int64_t width = 0;
  const int64_t* token = nullptr;  // [tokens]
  const int64_t* order = nullptr;  // [tokens]
  const float* dy = nullptr;       // [tokens, width]
  float* dwords = nullptr;         // [vocabulary, width] or null: added to
  float* dpositions = nullptr;     // [length, width] or null: overwritten
};

void embedding_forward(const EmbeddingForward& arguments);
void embedding_backward(const EmbeddingBackward& arguments);

}  // namespace edelta::kernels
