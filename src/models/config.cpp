#include "edelta/models/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "edelta/base/error.h"
#include "edelta/models/registry.h"

namespace edelta {

template <>
std::span<const EnumName<models::Head>> enum_names() {
  static constexpr std::array names{EnumName<models::Head>{models::Head::continuous, "continuous"},
                                    EnumName<models::Head>{models::Head::token, "token"}};
  return names;
}

namespace models {
namespace {

void require(bool holds, const std::string& message) {
  if (!holds) throw InputError(message);
}

// The groups of all architectures, each once.
std::vector<OptionGroup> option_groups() {
  std::vector<OptionGroup> groups;
  for (const Architecture& architecture : architectures()) {
    for (const OptionGroup& group : architecture.options) {
      const auto same = [&](const OptionGroup& other) { return other.type == group.type; };
      if (std::none_of(groups.begin(), groups.end(), same)) groups.push_back(group);
    }
  }
  return groups;
}

}  // namespace

void require_range(const char* key, int64_t value, int64_t least, int64_t most) {
  require(value >= least && value <= most,
          fmt::format("{} is {}; it must be from {} to {}", key, value, least, most));
}

void validate(const ModelConfig& config) {
  find_architecture(config.model);
  require_range("n_layer", config.n_layer, 1, 10'000);
  require_range("n_embd", config.n_embd, 1, kLargestSize);
  require_range("n_head", config.n_head, 1, kLargestSize);
  require_range("n_streams", config.n_streams, 1, kLargestSize);
  require_range("block_size", config.block_size, 1, kLargestSize);
  require_range("input_dim", config.input_dim, 1, kLargestSize);
  require_range("vocab_size", config.vocab_size, 1, kLargestSize);
  for (const OptionGroup& group : option_groups()) group.check(config.options, config);
  require(config.n_embd % config.n_streams == 0,
          fmt::format("n_streams is {}; it must divide n_embd, which is {}", config.n_streams,
                      config.n_embd));
  require(config.n_embd % config.n_head == 0,
          fmt::format("n_head is {}; it must divide n_embd, which is {}", config.n_head,
                      config.n_embd));
  require(config.dropout >= 0 && config.dropout < 1,
          fmt::format("dropout is {}; it must be at least 0 and below 1", config.dropout));
}

nlohmann::ordered_json to_json(const ModelConfig& config) {
  nlohmann::ordered_json json = fields_to_json(config);
  for (const OptionGroup& group : option_groups()) group.write(config.options, json);
  return json;
}

ModelConfig model_config_from_json(const nlohmann::json& json, const std::string& source,
                                   const std::set<std::string>& ignored) {
  require_object(json, source);
  ModelConfig config;
  std::set<std::string> known = ignored;
  with_source(source, [&] {
    read_fields(json, config, known);
    for (const OptionGroup& group : option_groups()) group.read(json, config.options, known);
  });
  refuse_unknown_keys(json, known, source);
  with_source(source, [&] { validate(config); });
  return config;
}

std::vector<Field> model_fields() {
  std::vector<Field> fields = fields_of<ModelConfig>();
  for (const OptionGroup& group : option_groups()) {
    fields.insert(fields.end(), group.fields.begin(), group.fields.end());
  }
  return fields;
}

ModelConfig matched_config(const std::string& model) {
  const Architecture& architecture = find_architecture(model);
  ModelConfig config;
  config.model = model;
  config.n_layer = architecture.matched_layers;
  config.n_embd = architecture.matched_width;
  return config;
}

}  // namespace models
}  // namespace edelta
