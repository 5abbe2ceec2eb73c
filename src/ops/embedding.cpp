#include "edelta/ops/embedding.h"

#include <fmt/format.h>

#include "edelta/base/error.h"
#include "edelta/ops/implementation.h"
#include "ops/fused/fused.h"
#include "ops/index_range.h"

namespace edelta::ops {

using torch::Tensor;

WithInput embedding(const Tensor& token, const Tensor& words, const Tensor& positions) {
  require_indices(token, 0, words.size(0), "token");
  if (token.size(1) > positions.size(0)) {
    throw InputError(fmt::format("a sequence has {} positions, but there are {}", token.size(1),
                                 positions.size(0)));
  }
  if (use_fused({words, positions})) return fused::embedding(token, words, positions);
  return {torch::embedding(words, token) + positions.narrow(0, 0, token.size(1)), words};
}

}  // namespace edelta::ops
