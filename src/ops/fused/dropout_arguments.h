// The dropout of an autograd function, for its kernels and from its forward to its backward pass.
#pragma once

#include "edelta/ops/dropout.h"
#include "kernels/dropout.h"
#include "ops/fused/autograd.h"

namespace edelta::ops::fused {

inline kernels::DropoutMask mask_of(const Dropout& dropout) {
  return kernels::dropout_mask(dropout.probability, dropout.key, dropout.site);
}

inline void save_dropout(AutogradContext* context, const Dropout& dropout) {
  context->saved_data["dropout_probability"] = dropout.probability;
  context->saved_data["dropout_key"] = static_cast<int64_t>(dropout.key);
  context->saved_data["dropout_site"] = static_cast<int64_t>(dropout.site);
}

inline kernels::DropoutMask saved_mask(AutogradContext* context) {
  const auto& saved = context->saved_data;
  return kernels::dropout_mask(saved.at("dropout_probability").toDouble(),
                               static_cast<uint64_t>(saved.at("dropout_key").toInt()),
                               static_cast<uint32_t>(saved.at("dropout_site").toInt()));
}

}  // namespace edelta::ops::fused
