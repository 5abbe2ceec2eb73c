#include "edelta/models/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/suggest.h"
#include "edelta/base/error.h"
#include "edelta/models/architecture_options.h"
#include "models/connections/connections.h"

namespace edelta::models {
namespace {

template <class... Groups>
std::vector<OptionGroup> has() {
  return {option_group<Groups>()...};
}

// Pooled over the whole sequence, an operator sees what comes after a position.
bool pools_causally(const ModelConfig& config) {
  return config.options.get<PoolOptions>().pool != ops::Pool::sequence;
}

// An operator that is fixed, or not there, sees nothing.
bool operates_causally(const ModelConfig& config) {
  const auto hybrid = config.options.get<HybridOptions>();
  return hybrid.branch == geometry::Branch::none ||
         hybrid.generator == geometry::GeneratorKind::fixed || pools_causally(config);
}

// The looks are of the Okabe-Ito colours, which stay apart for colour-blind readers; dashes and
// marks tell the curves apart without any colour.
std::vector<Architecture>& registry() {
  using enum SubLayerWidth;
  static std::vector<Architecture> all{
      {.name = "gpt",
       .summary = "x + F(LN x)",
       .make_connection = make_gpt_connection,
       .matched_layers = 9,
       .streams = false,
       .options = has<ProjectionMapOptions, ProjectionOptions>(),
       .look = {"#000000", "(14,4)", 4},
       .published = {.name = "gpt2"}},
      {.name = "ddl",
       .summary = "a Delta operator (rank one, learned β), then the residual",
       .make_connection = make_ddl_connection,
       .matched_layers = 8,
       .streams = false,
       .causal = pools_causally,
       .options = has<PoolOptions, GeneratorNetOptions>(),
       .look = {"#E69F00", "(7,4)", 6}},
      {.name = "mhc",
       .summary = "streams mixed by doubly stochastic matrices (Sinkhorn)",
       .make_connection = make_mhc_connection,
       .matched_layers = 9,
       .options = has<SinkhornOptions>(),
       .look = {"#56B4E9", "(2,3)", 8}},
      {.name = "jpmhc",
       .summary = "streams mixed by nearly orthogonal matrices (iterated Cayley)",
       .make_connection = make_jpmhc_connection,
       .sublayer_width = stream,
       .matched_layers = 7,
       .matched_width = 512,
       .options = has<ProjectionOptions, IterativeCayleyOptions>(),
       .look = {"#009E73", "(12,4,2,4)", 10}},
      {.name = "edelta",
       .summary = "exact Cayley rotation and Householder reflection, joined by a gate",
       .make_connection = make_edelta_connection,
       .matched_layers = 6,
       .causal = operates_causally,
       .options = has<HybridOptions, PoolOptions, GeneratorNetOptions, ProjectionMapOptions,
                      ProjectionOptions>(),
       .look = {"#D55E00", "1", 7, 2.6},
       .published = {.trains_gate = true}},
      {.name = "edelta-stream",
       .summary = "the same operator with routed streams and sub-layers of width D/n",
       .make_connection = make_edelta_stream_connection,
       .sublayer_width = stream,
       .matched_layers = 7,
       .matched_width = 512,
       .causal = operates_causally,
       .options = has<HybridOptions, PoolOptions, JointNetOptions, ProjectionOptions>(),
       .look = {"#CC79A7", "(14,4,2,4,2,4)", 12},
       .published = {.name = "edelta_stream"}},
  };
  return all;
}

}  // namespace

const std::vector<Architecture>& architectures() { return registry(); }

bool has_option(const Architecture& architecture, const std::string& key) {
  if (key == "n_streams") return architecture.streams;
  const auto has = [&](const std::vector<Field>& fields) {
    return std::any_of(fields.begin(), fields.end(),
                       [&](const Field& field) { return field.key == key; });
  };
  return has(fields_of<ModelConfig>()) ||
         std::any_of(architecture.options.begin(), architecture.options.end(),
                     [&](const OptionGroup& group) { return has(group.fields); });
}

const Architecture& find_architecture(const std::string& name) {
  std::vector<std::string> known;
  for (const Architecture& architecture : registry()) {
    if (architecture.name == name) return architecture;
    known.push_back(architecture.name);
  }
  throw InputError(fmt::format("model is '{}'; it must be one of: {}{}", name,
                               fmt::join(known, ", "), base::did_you_mean(name, known)));
}

const Architecture* find_published(const std::string& name) {
  const auto found = std::find_if(registry().begin(), registry().end(), [&](const auto& each) {
    return (each.published.name.empty() ? each.name : each.published.name) == name;
  });
  return found == registry().end() ? nullptr : &*found;
}

void register_architecture(Architecture architecture) {
  for (const Architecture& other : registry()) {
    if (other.name == architecture.name) {
      throw InputError(fmt::format("an architecture named '{}' is already there", other.name));
    }
  }
  registry().push_back(std::move(architecture));
}

}  // namespace edelta::models
