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
      EnumName<Projections>{Projections::attention_pre, "attention-pre"},
      EnumName<Projections>{Projections::attention_post, "attention-post"},
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

void validate(const GeneratorNetOptions& options, const ModelConfig& config) {
  require_range("geo_hidden_ratio", options.geo_hidden_ratio, 1, config.n_embd);
}

void validate(const JointNetOptions& options, const ModelConfig&) {
  require_range("geo_hidden_dim", options.geo_hidden_dim, 1, kLargestSize);
}

void validate(const HybridOptions& options, const ModelConfig&) {
  if (options.gate_reg_weight >= 0) return;
  throw InputError(fmt::format("{} is {}; it must not be negative",
                               field_name<HybridOptions>("gate_reg_weight"),
                               options.gate_reg_weight));
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
