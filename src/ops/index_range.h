// A check of indices that come from data.
#pragma once

#include <fmt/format.h>

#include "edelta/base/error.h"
#include "edelta/torch.h"

namespace edelta::ops {

// InputError unless all of `indices` are int64 in [lowest, vocabulary); `what` names one of them.
inline void require_indices(const torch::Tensor& indices, int64_t lowest, int64_t vocabulary,
                            const char* what) {
  if (indices.scalar_type() != torch::kInt64) {
    throw InputError(fmt::format("a {} must be an int64", what));
  }
  if (indices.numel() == 0) return;
  const auto least = indices.min().item<int64_t>(), most = indices.max().item<int64_t>();
  if (least >= lowest && most < vocabulary) return;
  throw InputError(fmt::format("a {} is {}, but must be {} to {}: the vocabulary has {} tokens",
                               what, least < lowest ? least : most, lowest, vocabulary - 1,
                               vocabulary));
}

}  // namespace edelta::ops
