#include "kernels/embedding.h"

#include <cstring>

#include "kernels/isa/parallel.h"
#include "kernels/isa/rows.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

// A word's run in the order of words is added up by one thread, that which has its beginning.
void add_word(const EmbeddingBackward& a, int64_t begin) {
  const int64_t word = a.token[a.order[begin]];
  if (begin > 0 && a.token[a.order[begin - 1]] == word) return;
  float* row = a.dwords + word * a.width;
  for (int64_t i = begin; i < a.tokens && a.token[a.order[i]] == word; ++i) {
    add_rows(1, a.width, a.dy + a.order[i] * a.width, a.width, row);
  }
}

void sum_position(const EmbeddingBackward& a, int64_t t) {
  float* row = a.dpositions + t * a.width;
  std::memset(row, 0, a.width * sizeof(float));
  add_rows(a.tokens / a.length, a.width, a.dy + t * a.width, a.length * a.width, row);
}

}  // namespace

void embedding_forward(const EmbeddingForward& a) {
  in_parallel(a.tokens, [&](int64_t i) {
    start_rows(1, a.width, a.words + a.token[i] * a.width, a.positions + i % a.length * a.width,
               a.y + i * a.width);
  });
}

void embedding_backward(const EmbeddingBackward& a) {
  if (a.dwords != nullptr) in_parallel(a.tokens, [&](int64_t i) { add_word(a, i); });
  if (a.dpositions != nullptr) in_parallel(a.length, [&](int64_t t) { sum_position(a, t); });
}

}  // namespace edelta::kernels::EDELTA_ISA
