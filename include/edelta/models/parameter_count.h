// Counting parameters, and matching models by them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "edelta/models/config.h"

namespace edelta::models {

int64_t count_parameters(const ModelConfig& config);

// The counting convention of the paper's matched configurations: the token model with block 64,
// vocabulary 1, no bias.
ModelConfig counting_convention(ModelConfig config);

struct ParameterGroup {
  std::string name;  // "transformer.h.*.attn": layers are added up
  int64_t count;
};
// The parameters by module, in the order of the model.
std::vector<ParameterGroup> parameter_breakdown(const ModelConfig& config);

// The depth at which `config` comes closest to `target` parameters, everything else kept.
ModelConfig match_depth(ModelConfig config, int64_t target);

// The same over all widths from 64 to 512 in steps of 32 that n_streams and n_head divide, with 24
// layers at most.
ModelConfig match_depth_and_width(const ModelConfig& config, int64_t target);

}  // namespace edelta::models
