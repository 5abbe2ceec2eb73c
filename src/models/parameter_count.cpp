#include "edelta/models/parameter_count.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/required_fields.h"
#include "edelta/models/model.h"
#include "edelta/models/registry.h"

namespace edelta::models {
namespace {

constexpr int64_t kWidthStep = 32;
constexpr int64_t kSmallestWidth = 64;
constexpr int64_t kDeepest = 24;  // deeper matches are closer, but no sensible models
constexpr int64_t kLargestWidth = 512;

// "transformer.h.3.geo_attn.u_net.0.weight" → "transformer.h.*.geo_attn".
std::string group_name(const std::string& parameter) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= parameter.size();) {
    const size_t end = std::min(parameter.find('.', begin), parameter.size());
    parts.push_back(parameter.substr(begin, end - begin));
    begin = end + 1;
  }
  const bool layer = parts.size() > 3 && parts[1] == "h";
  if (layer) return parts[0] + ".h.*." + parts[3];
  return parts[0] == "transformer" ? parts[0] + "." + parts[1] : parts[0];
}

int64_t distance(int64_t count, int64_t target) { return std::abs(count - target); }

}  // namespace

int64_t count_parameters(const ModelConfig& config) {
  return make_model(config)->parameter_count();
}

ModelConfig counting_convention(ModelConfig config) {
  config.head = Head::token;
  config.block_size = 64;
  config.vocab_size = 1;
  config.bias = false;
  return config;
}

ParameterCount counted(const ModelConfig& config) {
  return {config.model,  config.n_layer,   config.n_embd,
          config.n_head, config.n_streams, count_parameters(config)};
}

std::vector<ParameterCount> count_matched() {
  std::vector<ParameterCount> counts;
  for (const Architecture& architecture : architectures()) {
    counts.push_back(counted(counting_convention(matched_config(architecture.name))));
  }
  return counts;
}

nlohmann::ordered_json to_json(const ParameterCount& count) { return fields_to_json(count); }

nlohmann::ordered_json to_json(const std::vector<ParameterCount>& counts) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ParameterCount& count : counts) list.push_back(to_json(count));
  return list;
}

std::vector<ParameterCount> parameter_counts_from_json(const nlohmann::json& json,
                                                       const std::string& source) {
  if (!json.is_array()) throw InputError(source + ": must be a list of counts");
  std::vector<ParameterCount> counts;
  with_source(source, [&] {
    for (const nlohmann::json& entry : json) {
      ParameterCount::visit_fields(counts.emplace_back(), [&](const Field& info, auto& field) {
        json_fields::read(info.key, base::required_entry(entry, info.key), field);
      });
    }
  });
  return counts;
}

std::vector<ParameterGroup> parameter_breakdown(const ModelConfig& config) {
  std::vector<ParameterGroup> groups;
  for (const auto& item : make_model(config)->named_parameters()) {
    const std::string name = group_name(item.key());
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const ParameterGroup& group) { return group.name == name; });
    if (found == groups.end()) found = groups.insert(groups.end(), {name, 0});
    found->count += item.value().numel();
  }
  return groups;
}

ModelConfig match_depth(ModelConfig config, int64_t target) {
  // Every layer has the same number of parameters, so two models tell all depths.
  config.n_layer = 1;
  const int64_t one = count_parameters(config);
  config.n_layer = 2;
  const int64_t layer = count_parameters(config) - one;
  const int64_t below = std::max<int64_t>(1, 1 + (target - one) / layer);
  const auto miss = [&](int64_t depth) { return distance(one + (depth - 1) * layer, target); };
  config.n_layer = miss(below + 1) < miss(below) ? below + 1 : below;
  return config;
}

ModelConfig match_depth_and_width(const ModelConfig& config, int64_t target) {
  ModelConfig best = config;
  int64_t least = -1;
  for (int64_t width = kSmallestWidth; width <= kLargestWidth; width += kWidthStep) {
    ModelConfig candidate = config;
    candidate.n_embd = width;
    if (width % config.n_streams != 0 || width % config.n_head != 0) continue;
    candidate = match_depth(candidate, target);
    if (candidate.n_layer > kDeepest) continue;
    const int64_t miss = distance(count_parameters(candidate), target);
    if (least < 0 || miss < least) {
      least = miss;
      best = candidate;
    }
  }
  return best;
}

}  // namespace edelta::models
