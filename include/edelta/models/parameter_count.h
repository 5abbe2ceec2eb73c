// Counting parameters, and matching models by them.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "edelta/models/config.h"

namespace edelta::models {

int64_t count_parameters(const ModelConfig& config);

// The counting convention of the paper's matched configurations: the token model with block 64,
// vocabulary 1, no bias.
ModelConfig counting_convention(ModelConfig config);

// A configuration with its number of parameters. The JSON keys have the names of the members.
struct ParameterCount {
  std::string model;
  int64_t n_layer = 0, n_embd = 0, n_head = 0, n_streams = 0;
  int64_t parameters = 0;

  template <class Self, class Visit>
  static void visit_fields(Self& self, Visit visit) {
    visit(Field{"model", ""}, self.model);
    visit(Field{"n_layer", ""}, self.n_layer);
    visit(Field{"n_embd", ""}, self.n_embd);
    visit(Field{"n_head", ""}, self.n_head);
    visit(Field{"n_streams", ""}, self.n_streams);
    visit(Field{"parameters", ""}, self.parameters);
  }
};
ParameterCount counted(const ModelConfig& config);
// Every architecture's matched configuration, by the counting convention.
std::vector<ParameterCount> count_matched();

nlohmann::ordered_json to_json(const ParameterCount& count);
nlohmann::ordered_json to_json(const std::vector<ParameterCount>& counts);
// A list of counts; InputError that names `source` and the key.
std::vector<ParameterCount> parameter_counts_from_json(const nlohmann::json& json,
                                                       const std::string& source);

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
