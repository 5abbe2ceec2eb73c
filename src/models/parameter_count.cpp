#include "edelta/models/parameter_count.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "edelta/models/model.h"

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

int64_t count_parameters(const ModelConfig& config) { return Model(config).parameter_count(); }

ModelConfig counting_convention(ModelConfig config) {
  config.head = Head::token;
  config.block_size = 64;
  config.vocab_size = 1;
  config.bias = false;
  return config;
}

std::vector<ParameterGroup> parameter_breakdown(const ModelConfig& config) {
  std::vector<ParameterGroup> groups;
  for (const auto& item : Model(config).named_parameters()) {
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
