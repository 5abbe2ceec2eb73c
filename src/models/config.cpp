#include "edelta/models/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

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

void require_range(const std::string& name, int64_t value, int64_t least, int64_t most) {
  require(value >= least && value <= most,
          fmt::format("{} is {}; it must be from {} to {}", name, value, least, most));
}

void validate(const ModelConfig& config) {
  const Architecture& architecture = find_architecture(config.model);
  const auto name = [](const char* key) { return field_name<ModelConfig>(key); };
  require_range(name("n_layer"), config.n_layer, 1, 10'000);
  require_range(name("n_embd"), config.n_embd, 1, kLargestSize);
  require_range(name("n_head"), config.n_head, 1, kLargestSize);
  require_range(name("n_streams"), config.n_streams, 1, kLargestSize);
  require_range(name("block_size"), config.block_size, 1, kLargestSize);
  require_range(name("input_dim"), config.input_dim, 1, kLargestSize);
  require_range(name("vocab_size"), config.vocab_size, 1, kLargestSize);
  for (const OptionGroup& group : architecture.options) group.check(config.options, config);
  const auto require_divisor = [&](const char* key, int64_t value) {
    require(config.n_embd % value == 0,
            fmt::format("{} is {}; it must divide {}, which is {}", name(key), value,
                        name("n_embd"), config.n_embd));
  };
  if (architecture.streams) require_divisor("n_streams", config.n_streams);
  require_divisor("n_head", config.n_head);
  require(config.dropout >= 0 && config.dropout < 1,
          fmt::format("dropout is {}; it must be at least 0 and below 1", config.dropout));
  require(config.init_std > 0 && std::isfinite(config.init_std),
          fmt::format("init_std is {}; it must be positive", config.init_std));
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
