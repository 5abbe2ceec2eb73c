#include "edelta/ops/embedding.h"

#include "edelta/ops/implementation.h"
#include "ops/fused/fused.h"
#include "ops/index_range.h"
#include "ops/shapes.h"

namespace edelta::ops {

using torch::Tensor;

WithInput embedding(const Tensor& token, const Tensor& words, const Tensor& positions) {
  shapes::embedding(token, words, positions);
  require_indices(token, 0, words.size(0), "token");
  if (use_fused({words, positions})) return fused::embedding(token, words, positions);
  return {torch::embedding(words, token) + positions.narrow(0, 0, token.size(1)), words};
}

}  // namespace edelta::ops
