#include "edelta/models/architecture_options.h"

#include <fmt/format.h>

#include <array>

#include "edelta/base/error.h"
#include "edelta/models/config.h"

namespace edelta {

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
  static constexpr std::array names{
      EnumName<Branch>{Branch::hybrid, "hybrid"}, EnumName<Branch>{Branch::cayley, "cayley"},
      EnumName<Branch>{Branch::householder, "householder"}, EnumName<Branch>{Branch::none, "none"}};
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
                                    EnumName<Blend>{Blend::hard, "hard"},
                                    EnumName<Blend>{Blend::geodesic, "geodesic"}};
  return names;
}

template <>
std::span<const EnumName<geometry::ScalarField>> enum_names() {
  using geometry::ScalarField;
  static constexpr std::array names{EnumName<ScalarField>{ScalarField::real, "real"},
                                    EnumName<ScalarField>{ScalarField::complex, "complex"}};
  return names;
}

template <>
std::span<const EnumName<geometry::OperatorInit>> enum_names() {
  using Init = geometry::OperatorInit;
  static constexpr std::array names{EnumName<Init>{Init::normal, "normal"},
                                    EnumName<Init>{Init::live, "live"}};
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
std::span<const EnumName<geometry::GateGradient>> enum_names() {
  using geometry::GateGradient;
  static constexpr std::array names{EnumName<GateGradient>{GateGradient::all, "all"},
                                    EnumName<GateGradient>{GateGradient::gate, "gate"}};
  return names;
}

template <>
std::span<const EnumName<models::Projections>> enum_names() {
  using models::Projections;
  static constexpr std::array names{
      EnumName<Projections>{Projections::own, "own"},
      EnumName<Projections>{Projections::on, "on"},
      EnumName<Projections>{Projections::off, "off"},
      EnumName<Projections>{Projections::attention, "attention"},
      EnumName<Projections>{Projections::attention_pre, "attention-pre"},
      EnumName<Projections>{Projections::attention_post, "attention-post"},
      EnumName<Projections>{Projections::mlp, "mlp"},
      EnumName<Projections>{Projections::mlp_pre, "mlp-pre"},
      EnumName<Projections>{Projections::mlp_post, "mlp-post"}};
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

constexpr int64_t kMostIterations = 10'000;
constexpr int64_t kMostFactors = 100;
constexpr double kGeodesicGateBias = 4;

void complete(HybridOptions& options, const std::set<std::string>& given) {
  if (options.field == geometry::ScalarField::complex && !given.contains("blend")) {
    options.blend = geometry::Blend::geodesic;
  }
  if (options.blend != geometry::Blend::geodesic) return;
  if (!given.contains("gate_reg_weight")) options.gate_reg_weight = 0;
  if (!given.contains("init_gate_bias")) options.init_gate_bias = kGeodesicGateBias;
}

void validate(const GeneratorNetOptions& options, const ModelConfig& config) {
  require_range("geo_hidden_ratio", options.geo_hidden_ratio, 1, config.n_embd);
}

void validate(const JointNetOptions& options, const ModelConfig&) {
  require_range("geo_hidden_dim", options.geo_hidden_dim, 1, kLargestSize);
}

void validate(const HybridOptions& options, const ModelConfig& config) {
  const auto require = [](bool holds, const std::string& message) {
    if (!holds) throw InputError(message);
  };
  require(options.gate_reg_weight >= 0,
          fmt::format("{} is {}; it must not be negative",
                      field_name<HybridOptions>("gate_reg_weight"), options.gate_reg_weight));
  const std::string streams =
      fmt::format("{} is {}", field_name<ModelConfig>("n_streams"), config.n_streams);
  const bool geodesic = options.blend == geometry::Blend::geodesic;
  if (options.field == geometry::ScalarField::complex) {
    require(geodesic, fmt::format("blend is {}; it must be geodesic where field is complex",
                                  enum_to_string(options.blend)));
    require(config.n_streams % 2 == 0, streams + "; it must be even where field is complex");
  }
  require(!geodesic || !has_gate(options.branch) || config.n_streams >= 2,
          streams + "; it must be at least 2 where blend is geodesic");
}

void validate(const ProjectionMapOptions& options, const ModelConfig&) {
  require_range("projection_factors", options.projection_factors, 1, kMostFactors);
}

void validate(const SinkhornOptions& options, const ModelConfig&) {
  require_range("sinkhorn_iterations", options.sinkhorn_iterations, 0, kMostIterations);
}

void validate(const IterativeCayleyOptions& options, const ModelConfig&) {
  require_range("cayley_iterations", options.cayley_iterations, 0, kMostIterations);
}

}  // namespace models
}  // namespace edelta
