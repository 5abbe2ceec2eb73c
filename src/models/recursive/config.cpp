#include <fmt/format.h>

#include <array>
#include <cmath>

#include "edelta/base/error.h"
#include "edelta/base/machine.h"
#include "edelta/models/config.h"
#include "edelta/models/recursive_config.h"

namespace edelta {

using models::Mixer;
using models::MixerInit;
using models::Positions;
using models::Recursion;

template <>
std::span<const EnumName<Recursion>> enum_names() {
  static constexpr std::array names{EnumName<Recursion>{Recursion::trm, "trm"},
                                    EnumName<Recursion>{Recursion::hrm, "hrm"},
                                    EnumName<Recursion>{Recursion::single, "trm-single"},
                                    EnumName<Recursion>{Recursion::hier6, "trm-hier6"},
                                    EnumName<Recursion>{Recursion::transformer, "transformer"}};
  return names;
}

template <>
std::span<const EnumName<Mixer>> enum_names() {
  static constexpr std::array names{EnumName<Mixer>{Mixer::none, "none"},
                                    EnumName<Mixer>{Mixer::jpmhc, "jpmhc"},
                                    EnumName<Mixer>{Mixer::edelta, "edelta"}};
  return names;
}

template <>
std::span<const EnumName<MixerInit>> enum_names() {
  static constexpr std::array names{EnumName<MixerInit>{MixerInit::published, "published"},
                                    EnumName<MixerInit>{MixerInit::live, "live"}};
  return names;
}

template <>
std::span<const EnumName<Positions>> enum_names() {
  static constexpr std::array names{EnumName<Positions>{Positions::rope, "rope"},
                                    EnumName<Positions>{Positions::learned, "learned"},
                                    EnumName<Positions>{Positions::none, "none"}};
  return names;
}

namespace models {
namespace {

void refuse_unless(bool holds, const std::string& message) {
  if (!holds) throw InputError(message);
}

int64_t quotient_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// These two know no length of their own for the puzzle's part.
bool has_puzzle_length(Recursion kind) {
  return kind != Recursion::hrm && kind != Recursion::transformer;
}

}  // namespace

int64_t RecursiveConfig::puzzle_positions() const {
  if (has_puzzle_length(kind) && puzzle_emb_len != 0) return puzzle_emb_len;
  return quotient_up(puzzle_emb_ndim, hidden_size);
}

int64_t RecursiveConfig::inner_width(int64_t width) const {
  // Ties go to the even number, as in the published code's language.
  const auto wanted =
      static_cast<int64_t>(std::nearbyint(expansion * static_cast<double>(width) * 2 / 3));
  return quotient_up(wanted, width_multiple) * width_multiple;
}

int64_t RecursiveConfig::layers_with_gradient() const {
  if (kind == Recursion::transformer) return H_layers;
  return kind == Recursion::hrm ? H_layers + L_layers : (L_cycles + 1) * L_layers;
}

bool RecursiveConfig::compares_continuing() const {
  return !no_ACT_continue || kind == Recursion::hrm || kind == Recursion::transformer;
}

bool RecursiveConfig::looks_ahead() const {
  return kind == Recursion::hrm || (!no_ACT_continue && kind != Recursion::transformer);
}

void validate(const RecursiveConfig& config) {
  const auto name = [](const char* key) { return field_name<RecursiveConfig>(key); };
  const auto at_least = [&](const char* key, int64_t value, int64_t least, int64_t most) {
    require_range(name(key), value, least, most);
  };
  constexpr int64_t kMostCycles = 10'000;
  at_least("seq_len", config.seq_len, 1, kLargestSize);
  at_least("vocab_size", config.vocab_size, 1, kLargestSize);
  at_least("num_puzzle_identifiers", config.num_puzzle_identifiers, 1, kLargestSize);
  at_least("puzzle_emb_ndim", config.puzzle_emb_ndim, 0, kLargestSize);
  at_least("puzzle_emb_len", config.puzzle_emb_len, 0, kLargestSize);
  at_least("H_cycles", config.H_cycles, 1, kMostCycles);
  at_least("L_cycles", config.L_cycles, 1, config.kind == Recursion::hier6 ? 6 : kMostCycles);
  const bool own_level = config.kind == Recursion::hrm || config.kind == Recursion::transformer;
  at_least("H_layers", config.H_layers, own_level ? 1 : 0, kMostCycles);
  at_least("L_layers", config.L_layers, 1, kMostCycles);
  at_least("hidden_size", config.hidden_size, 2, kLargestSize);
  at_least("num_heads", config.num_heads, 1, config.hidden_size);
  at_least("halt_max_steps", config.halt_max_steps, 1, kMostCycles);
  at_least("width_multiple", config.width_multiple, 1, kLargestSize);
  refuse_unless(config.expansion > 0 && config.expansion <= 1024,
                fmt::format("{} is {}; it must be above 0 and at most 1024", name("expansion"),
                            config.expansion));
  refuse_unless(config.rms_norm_eps > 0, fmt::format("{} is {}; it must be positive",
                                                     name("rms_norm_eps"), config.rms_norm_eps));
  refuse_unless(config.rope_theta > 0, fmt::format("{} is {}; it must be positive",
                                                   name("rope_theta"), config.rope_theta));
  refuse_unless(config.halt_exploration_prob >= 0 && config.halt_exploration_prob <= 1,
                fmt::format("{} is {}; it must be from 0 to 1", name("halt_exploration_prob"),
                            config.halt_exploration_prob));
  refuse_unless(config.pos_encodings != Positions::rope || config.head_size() % 2 == 0,
                fmt::format("{} {} over {} {} is {} numbers a head; with {} rope it must be even",
                            name("hidden_size"), config.hidden_size, name("num_heads"),
                            config.num_heads, config.head_size(), name("pos_encodings")));
  refuse_unless(config.puzzle_positions() * config.hidden_size >= config.puzzle_emb_ndim,
                fmt::format("{} is {}, but {} {} has room for {} numbers", name("puzzle_emb_ndim"),
                            config.puzzle_emb_ndim, name("puzzle_emb_len"), config.puzzle_emb_len,
                            config.puzzle_positions() * config.hidden_size));
  refuse_unless(
      config.puzzle_emb_ndim > 0 || config.puzzle_positions() == 0,
      fmt::format("{} must be 0 where {} is", name("puzzle_emb_len"), name("puzzle_emb_ndim")));
  refuse_unless(
      config.mixer_operator || config.mixer_type == Mixer::edelta,
      fmt::format("{} false is for {} edelta", name("mixer_operator"), name("mixer_type")));
  if (config.mixer_type == Mixer::none) return;
  refuse_unless(config.kind == Recursion::trm,
                fmt::format("{} {} is for model trm, not {}", name("mixer_type"),
                            enum_to_string(config.mixer_type), enum_to_string(config.kind)));
  refuse_unless(!config.mlp_t, fmt::format("{} stands in place of attention where {} is none",
                                           name("mlp_t"), name("mixer_type")));
  at_least("n_streams", config.n_streams, 1, config.hidden_size);
  refuse_unless(config.hidden_size % config.n_streams == 0,
                fmt::format("{} is {}; it must divide {}, which is {}", name("n_streams"),
                            config.n_streams, name("hidden_size"), config.hidden_size));
  at_least("cayley_iters", config.cayley_iters, 0, kMostCycles);
  at_least("geo_hidden_dim", config.geo_hidden_dim, 1, kLargestSize);
  refuse_unless(config.gate_reg_weight >= 0,
                fmt::format("{} is {}; it must not be negative", name("gate_reg_weight"),
                            config.gate_reg_weight));
}

double least_parameters(const RecursiveConfig& config) {
  const double width = static_cast<double>(config.hidden_size);
  const bool mixed = config.mixer_type != Mixer::none;
  const int64_t inner = mixed ? config.hidden_size / config.n_streams : config.hidden_size;
  const double mlp =
      3.0 * static_cast<double>(inner) * static_cast<double>(config.inner_width(inner));
  const bool own_level = config.kind == Recursion::hrm || config.kind == Recursion::transformer;
  const int64_t layers = (own_level ? config.H_layers : 0) +
                         (config.kind == Recursion::transformer ? 0 : config.L_layers);
  return static_cast<double>(layers) * mlp + 2 * width * static_cast<double>(config.vocab_size);
}

void require_memory(const RecursiveConfig& config, double copies) {
  // The puzzles' table has no gradient and no moments.
  const double table = static_cast<double>(config.num_puzzle_identifiers) *
                       static_cast<double>(config.puzzle_emb_ndim);
  base::require_memory(sizeof(float) * (copies * least_parameters(config) + table),
                       fmt::format("the weights of {} layers {} wide and of {} puzzles",
                                   config.H_layers + config.L_layers, config.hidden_size,
                                   config.num_puzzle_identifiers));
}

nlohmann::ordered_json to_json(const RecursiveConfig& config) { return fields_to_json(config); }

RecursiveConfig recursive_config_from_json(const nlohmann::json& json, const std::string& source,
                                           const std::set<std::string>& ignored) {
  require_object(json, source);
  RecursiveConfig config;
  std::set<std::string> known = ignored;
  with_source(source, [&] { read_fields(json, config, known); });
  refuse_unknown_keys(json, known, source);
  with_source(source, [&] { validate(config); });
  return config;
}

}  // namespace models
}  // namespace edelta
