// Configurations of recursive runs.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "edelta/data/puzzle_data.h"
#include "edelta/train/config.h"
#include "edelta/train/schedule.h"
#include "train/config_sections.h"

namespace edelta::train {
namespace {

using models::Mixer;
using models::Recursion;
using nlohmann::json;

constexpr const char* kDefaultPreset = "trm";

bool is_recursion(const std::string& name) {
  const auto names = enum_names<Recursion>();
  return std::any_of(names.begin(), names.end(),
                     [&](const auto& each) { return name == each.second; });
}

template <class Fields>
std::vector<Field> with(std::vector<Field> fields, const Fields& more) {
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

std::vector<Field> train_fields() {
  return with(fields_of<Protocol>(), fields_of<PuzzleProtocol>());
}

// The model's section; its name, as users give it, is the kind.
json model_section(const json& given) {
  json model = config_section(given, "model", fields_of<models::RecursiveConfig>());
  if (const auto name = model.find("model"); name != model.end()) {
    model["kind"] = *name;
    model.erase("model");
  }
  return model;
}

// What the published kinds have instead of trm's sizes.
json sizes_of(const std::string& kind) {
  if (kind == "hrm") return {{"H_layers", 4}, {"L_layers", 4}, {"H_cycles", 2}, {"L_cycles", 2}};
  if (kind == "transformer") return {{"H_layers", 8}, {"num_heads", 12}};
  return json::object();
}

models::RecursiveConfig model_config(const json& own, const json& preset) {
  const std::string kind = text_at(merged(preset, own), "kind", "trm");
  json model = merged(merged(sizes_of(kind), preset), own);
  model["kind"] = kind;
  // A mixer takes the place of what a preset chose without one.
  const std::string mixer = text_at(model, "mixer_type", "none");
  if (mixer != "none" && !own.contains("mlp_t")) model["mlp_t"] = false;
  if (!model.contains("puzzle_emb_ndim") && model.contains("hidden_size")) {
    model["puzzle_emb_ndim"] = model["hidden_size"];
  }
  return models::recursive_config_from_json(model, "model");
}

// The part of a JSON object that a struct's fields name.
template <class Config>
json part_of(const json& object) {
  json part = json::object();
  for (const Field& field : fields_of<Config>()) {
    if (object.contains(field.key)) part[field.key] = object[field.key];
  }
  return part;
}

void read_protocol(const json& own, const json& preset, TrainConfig& config) {
  const json settings = merged(preset, own);
  std::set<std::string> known;
  for (const Field& field : train_fields()) known.insert(field.key);
  refuse_unknown_keys(settings, known, "train");
  fields_from_json(part_of<Protocol>(settings), config.train, "train");
  // A preset's warm-up and mean are for its own length.
  if (!own.contains("warmup")) scale_warmup(config.train);
  if (!own.contains("min_lr")) config.train.min_lr = std::min(config.train.min_lr, config.train.lr);
  PuzzleProtocol& puzzles = config.recursive->train;
  fields_from_json(part_of<PuzzleProtocol>(settings), puzzles, "train");
  if (!own.contains("ema_rate")) {
    const auto iterations = static_cast<double>(std::max<int64_t>(1, config.train.iterations));
    puzzles.ema_rate = std::min(puzzles.ema_rate, std::max(0.0, 1 - 10 / iterations));
  }
}

void require_rate(const char* key, double value, double most) {
  require(value >= 0 && value < most, fmt::format("{} is {}; it must be at least 0 and below {}",
                                                  field_name<PuzzleProtocol>(key), value, most));
}

}  // namespace

std::string TrainConfig::model_name() const {
  return recursive ? enum_to_string(recursive->model.kind) : model.model;
}

std::string TrainConfig::full_model_name() const {
  if (!recursive || recursive->model.mixer_type == models::Mixer::none) return model_name();
  return model_name() + "-" + enum_to_string(recursive->model.mixer_type);
}

std::string TrainConfig::task_name() const {
  if (recursive) return recursive->puzzles ? recursive->puzzles->name() : std::string();
  return task ? task->task : std::string();
}

RecursiveProtocol recursive_protocol(const TrainConfig& config) {
  const Protocol& protocol = config.train;
  const PuzzleProtocol& own = config.recursive->train;
  return {.optimizer = own.optimizer,
          .lr = protocol.lr,
          .lr_warmup_steps = protocol.warmup,
          .total_steps = schedule_end(protocol),
          .lr_min_ratio = protocol.min_lr / protocol.lr,
          .beta1 = protocol.beta1,
          .beta2 = protocol.beta2,
          .weight_decay = protocol.weight_decay,
          .puzzle_emb_lr = own.puzzle_emb_lr,
          .puzzle_emb_weight_decay = own.puzzle_emb_weight_decay,
          .clip = protocol.grad_clip,
          .ema_rate = own.ema_rate};
}

bool is_recursive(const json& given) {
  // What is no text is complained of by those who read the configuration, with its source.
  const auto name_in = [](const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const auto model = given.find("model");
  if (model != given.end()) {
    if (model->is_string()) return is_recursion(model->get<std::string>());
    if (model->is_object() && model->contains("model")) {
      return is_recursion(name_in(*model, "model"));
    }
    if (model->is_object() && model->contains("kind")) return true;
  }
  if (given.contains("puzzles")) return true;
  const std::string preset = name_in(given, "preset");
  const auto& known = presets();
  const bool by_preset = std::any_of(known.begin(), known.end(), [&](const Preset& each) {
    return each.name == preset && each.recursive;
  });
  return by_preset || data::is_puzzle_folder(name_in(given, "data"));
}

void fit_model(TrainConfig& config, const data::PuzzleInfo& info) {
  models::RecursiveConfig& model = config.recursive->model;
  model.seq_len = info.seq_len;
  model.vocab_size = info.vocab_size;
  model.num_puzzle_identifiers = info.num_puzzle_identifiers;
  models::validate(model);
  config.fitted = true;
}

TrainConfig read_recursive_config(const json& given) {
  require(!given.contains("task"), "a recursive model learns puzzles, not a task");
  TrainConfig config;
  config.recursive.emplace();
  config.preset = text_at(given, "preset", kDefaultPreset);
  const Preset& preset = find_preset(config.preset);
  require(preset.recursive, fmt::format("preset {} is not for recursive models", preset.name));
  const std::vector<Field> fields = train_fields();
  read_protocol(config_section(given, "train", fields),
                config_section(preset.settings, "train", fields), config);
  config.recursive->model = model_config(model_section(given), model_section(preset.settings));

  config.data = text_at(given, "data", "");
  const auto puzzle_fields = fields_of<data::PuzzleTask>();
  const json own = config_section(given, "puzzles", puzzle_fields);
  if (given.contains("data")) {
    require(!config.data.empty(), "data is empty; it must be a folder");
    require(own.empty(), "puzzles and data exclude each other");
  } else {
    const json settings = merged(config_section(preset.settings, "puzzles", puzzle_fields), own);
    require(settings.contains("kind"),
            "the puzzles are missing: name their folder with --data, or a preset that makes them");
    fields_from_json(settings, config.recursive->puzzles.emplace(), "puzzles");
    data::validate(*config.recursive->puzzles);
    fit_model(config, data::token_info(*config.recursive->puzzles));
  }
  validate(config);
  return config;
}

void validate_recursive(const TrainConfig& config) {
  const RecursiveRun& run = *config.recursive;
  models::validate(run.model);
  require(config.train.accumulate == 1,
          "accumulate must be 1: a recursive model carries its puzzles from batch to batch");
  require(config.train.eps == Protocol().eps, "eps is not a recursive model's to set");
  require(!config.train.recompute,
          "recompute is of transformers: a recursive model keeps its last cycle alone");
  require_rate("puzzle_emb_lr", run.train.puzzle_emb_lr, 1e6);
  require_rate("puzzle_emb_weight_decay", run.train.puzzle_emb_weight_decay, 1e6);
  require_rate("ema_rate", run.train.ema_rate, 1);
  require(run.train.val_puzzles >= 0,
          fmt::format("val_puzzles is {}; it must not be negative", run.train.val_puzzles));
  require(run.puzzles.has_value() != !config.data.empty(),
          "either puzzles or a data folder must be given");
  if (run.puzzles) data::validate(*run.puzzles);
}

nlohmann::ordered_json recursive_to_json(const TrainConfig& config) {
  const RecursiveRun& run = *config.recursive;
  nlohmann::ordered_json protocol = fields_to_json(config.train);
  protocol.update(fields_to_json(run.train));
  nlohmann::ordered_json out{
      {"preset", config.preset}, {"train", protocol}, {"model", models::to_json(run.model)}};
  if (run.puzzles) {
    out["puzzles"] = fields_to_json(*run.puzzles);
  } else {
    out["data"] = config.data;
  }
  return out;
}

std::vector<Setting> recursive_settings() {
  std::vector<Setting> all;
  nlohmann::ordered_json protocol = fields_to_json(Protocol{});
  protocol.update(fields_to_json(PuzzleProtocol{}));
  add_settings("train", train_fields(), protocol, all);
  add_settings("model", fields_of<models::RecursiveConfig>(),
               models::to_json(models::RecursiveConfig{}), all);
  add_settings("puzzles", fields_of<data::PuzzleTask>(), nlohmann::ordered_json::object(), all);
  return all;
}

}  // namespace edelta::train
