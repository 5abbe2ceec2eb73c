// The dropout of an autograd function, for its kernels and from its forward to its backward pass.
#pragma once

#include "edelta/ops/dropout.h"
#include "kernels/dropout.h"
#include "ops/fused/autograd.h"

namespace edelta::ops::fused {

// `heads`: of a mask on the weights of attention, whose planes are the heads of the sequences; 0:
// on tokens, which are its columns.
inline kernels::DropoutMask mask_of(const Dropout& dropout, int64_t heads = 0) {
  kernels::DropoutMask mask = kernels::dropout_mask(dropout.probability, dropout.key, dropout.site);
  mask.first_plane = dropout.first_sequence * heads;
  if (heads == 0) mask.first_column = dropout.first_token;
  return mask;
}

inline void save_dropout(AutogradContext* context, const Dropout& dropout) {
  context->saved_data["dropout_probability"] = dropout.probability;
  context->saved_data["dropout_key"] = static_cast<int64_t>(dropout.key);
  context->saved_data["dropout_site"] = static_cast<int64_t>(dropout.site);
  context->saved_data["first_sequence"] = dropout.first_sequence;
  context->saved_data["first_token"] = dropout.first_token;
}

inline kernels::DropoutMask saved_mask(AutogradContext* context, int64_t heads = 0) {
  const auto& saved = context->saved_data;
  return mask_of({.probability = saved.at("dropout_probability").toDouble(),
                  .key = static_cast<uint64_t>(saved.at("dropout_key").toInt()),
                  .site = static_cast<uint32_t>(saved.at("dropout_site").toInt()),
                  .first_sequence = saved.at("first_sequence").toInt(),
                  .first_token = saved.at("first_token").toInt()},
                 heads);
}

}  // namespace edelta::ops::fused
