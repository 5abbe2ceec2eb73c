#include "edelta/models/config.h"

#include <fmt/format.h>

#include <array>

#include "edelta/error.h"
#include "edelta/json_fields.h"
#include "edelta/models/registry.h"

namespace edelta {

template <>
std::span<const EnumName<models::Head>> enum_names() {
  static constexpr std::array names{EnumName<models::Head>{models::Head::continuous, "continuous"},
                                    EnumName<models::Head>{models::Head::token, "token"}};
  return names;
}

template <>
std::span<const EnumName<models::ProjectionInit>> enum_names() {
  using Init = models::ProjectionInit;
  static constexpr std::array names{EnumName<Init>{Init::normal, "normal"},
                                    EnumName<Init>{Init::identity, "identity"}};
  return names;
}

template <>
std::span<const EnumName<geometry::Branch>> enum_names() {
  using geometry::Branch;
  static constexpr std::array names{EnumName<Branch>{Branch::hybrid, "hybrid"},
                                    EnumName<Branch>{Branch::cayley, "cayley"},
                                    EnumName<Branch>{Branch::householder, "householder"}};
  return names;
}

template <>
std::span<const EnumName<geometry::GeneratorKind>> enum_names() {
  using Kind = geometry::GeneratorKind;
  static constexpr std::array names{EnumName<Kind>{Kind::data, "data"},
                                    EnumName<Kind>{Kind::fixed, "fixed"}};
  return names;
}

template <>
std::span<const EnumName<geometry::Blend>> enum_names() {
  using geometry::Blend;
  static constexpr std::array names{EnumName<Blend>{Blend::linear, "linear"},
                                    EnumName<Blend>{Blend::hard, "hard"}};
  return names;
}

template <>
std::span<const EnumName<geometry::GateRegulariser>> enum_names() {
  using Kind = geometry::GateRegulariser;
  static constexpr std::array names{EnumName<Kind>{Kind::product, "product"},
                                    EnumName<Kind>{Kind::entropy, "entropy"},
                                    EnumName<Kind>{Kind::squared_product, "squared-product"},
                                    EnumName<Kind>{Kind::min_distance, "min-distance"}};
  return names;
}

template <>
std::span<const EnumName<ops::Pool>> enum_names() {
  using ops::Pool;
  static constexpr std::array names{EnumName<Pool>{Pool::sequence, "sequence"},
                                    EnumName<Pool>{Pool::prefix, "prefix"},
                                    EnumName<Pool>{Pool::token, "token"}};
  return names;
}

namespace models {

// Found by fields_to_json and fields_from_json through the type of the configuration.
template <class Config, class Visit>
void visit_fields(Config& config, Visit visit) {
  visit("model", config.model);
  visit("head", config.head);
  visit("n_layer", config.n_layer);
  visit("n_embd", config.n_embd);
  visit("n_head", config.n_head);
  visit("n_streams", config.n_streams);
  visit("block_size", config.block_size);
  visit("input_dim", config.input_dim);
  visit("vocab_size", config.vocab_size);
  visit("bias", config.bias);
  visit("dropout", config.dropout);
  visit("branch", config.branch);
  visit("generator", config.generator);
  visit("pool", config.pool);
  visit("blend", config.blend);
  visit("projection_init", config.projection_init);
  visit("geo_hidden_ratio", config.geo_hidden_ratio);
  visit("geo_hidden_dim", config.geo_hidden_dim);
  visit("init_gate_bias", config.init_gate_bias);
  visit("gate_reg_weight", config.gate_reg_weight);
  visit("gate_regulariser", config.gate_regulariser);
  visit("sinkhorn_iterations", config.sinkhorn_iterations);
  visit("cayley_alpha", config.cayley_alpha);
  visit("cayley_iterations", config.cayley_iterations);
}

namespace {

void require(bool holds, const std::string& message) {
  if (!holds) throw InputError(message);
}

void require_range(const char* key, int64_t value, int64_t least, int64_t most) {
  require(value >= least && value <= most,
          fmt::format("{} is {}; it must be from {} to {}", key, value, least, most));
}

}  // namespace

void validate(const ModelConfig& config) {
  constexpr int64_t kLargest = int64_t{1} << 24;
  find_architecture(config.model);
  require_range("n_layer", config.n_layer, 1, 10'000);
  require_range("n_embd", config.n_embd, 1, kLargest);
  require_range("n_head", config.n_head, 1, kLargest);
  require_range("n_streams", config.n_streams, 1, kLargest);
  require_range("block_size", config.block_size, 1, kLargest);
  require_range("input_dim", config.input_dim, 1, kLargest);
  require_range("vocab_size", config.vocab_size, 1, kLargest);
  require_range("geo_hidden_ratio", config.geo_hidden_ratio, 1, config.n_embd);
  require_range("geo_hidden_dim", config.geo_hidden_dim, 1, kLargest);
  require_range("sinkhorn_iterations", config.sinkhorn_iterations, 0, 10'000);
  require_range("cayley_iterations", config.cayley_iterations, 0, 10'000);
  require(config.n_embd % config.n_streams == 0,
          fmt::format("n_streams is {}; it must divide n_embd, which is {}", config.n_streams,
                      config.n_embd));
  require(config.n_embd % config.n_head == 0,
          fmt::format("n_head is {}; it must divide n_embd, which is {}", config.n_head,
                      config.n_embd));
  require(config.dropout >= 0 && config.dropout < 1,
          fmt::format("dropout is {}; it must be at least 0 and below 1", config.dropout));
  require(config.gate_reg_weight >= 0,
          fmt::format("gate_reg_weight is {}; it must not be negative", config.gate_reg_weight));
}

nlohmann::ordered_json to_json(const ModelConfig& config) { return fields_to_json(config); }

ModelConfig model_config_from_json(const nlohmann::json& json, const std::string& source,
                                   const std::set<std::string>& ignored) {
  ModelConfig config;
  fields_from_json(json, config, source, ignored);
  try {
    validate(config);
  } catch (const InputError& error) {
    throw InputError(source + ": " + error.what());
  }
  return config;
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
