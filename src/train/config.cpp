#include "edelta/train/config.h"

#include <fmt/format.h>

#include "edelta/base/error.h"
#include "edelta/base/json_fields.h"

namespace edelta::train {

namespace {

using nlohmann::json;

void require(bool holds, const std::string& message) {
  if (!holds) throw InputError(message);
}

void require_positive(const char* key, int64_t value) {
  require(value >= 1, fmt::format("{} is {}; it must be at least 1", key, value));
}

void validate(const Protocol& protocol) {
  require_positive("iterations", protocol.iterations);
  require_positive("batch", protocol.batch);
  require_positive("accumulate", protocol.accumulate);
  require_positive("log_interval", protocol.log_interval);
  require_positive("eval_interval", protocol.eval_interval);
  require_positive("checkpoint_interval", protocol.checkpoint_interval);
  require(protocol.warmup >= 0 && protocol.warmup < protocol.iterations,
          fmt::format("warmup is {}; it must be from 0 to iterations − 1 ({})", protocol.warmup,
                      protocol.iterations - 1));
  require(protocol.lr > 0, fmt::format("lr is {}; it must be positive", protocol.lr));
  require(protocol.min_lr >= 0 && protocol.min_lr <= protocol.lr,
          fmt::format("min_lr is {}; it must be from 0 to lr ({})", protocol.min_lr, protocol.lr));
  for (const auto& [key, value] : {std::pair{"beta1", protocol.beta1}, {"beta2", protocol.beta2}}) {
    require(value >= 0 && value < 1,
            fmt::format("{} is {}; it must be at least 0 and below 1", key, value));
  }
  require(protocol.eps > 0, fmt::format("eps is {}; it must be positive", protocol.eps));
  require(protocol.weight_decay >= 0,
          fmt::format("weight_decay is {}; it must not be negative", protocol.weight_decay));
  require(protocol.grad_clip >= 0,
          fmt::format("grad_clip is {}; it must not be negative", protocol.grad_clip));
}

// The object below a key; a string stands for {`name_key`: string}.
json section(const json& given, const char* key, const char* name_key, const std::string& source) {
  const auto found = given.find(key);
  if (found == given.end()) return json::object();
  if (found->is_string()) return {{name_key, *found}};
  require(found->is_object(), fmt::format("{}: {} must be a name or an object", source, key));
  return *found;
}

const Preset& find_preset(const std::string& name) {
  std::string known;
  for (const Preset& preset : presets()) {
    if (preset.name == name) return preset;
    known += (known.empty() ? "" : ", ") + preset.name;
  }
  throw InputError(fmt::format("preset is '{}'; it must be one of: {}", name, known));
}

std::string text_at(const json& object, const char* key, const std::string& otherwise) {
  const auto found = object.find(key);
  if (found == object.end()) return otherwise;
  require(found->is_string(), fmt::format("{} must be a string", key));
  return found->get<std::string>();
}

// The preset's settings below those that were given.
json merged(json base, const json& over) {
  base.merge_patch(over);
  return base;
}

models::ModelConfig scaled(models::ModelConfig matched, double size) {
  const auto part = [=](int64_t of) {
    return static_cast<int64_t>(size * static_cast<double>(of));
  };
  matched.n_layer = std::max<int64_t>(1, part(matched.n_layer));
  matched.n_embd = part(matched.n_embd);
  return matched;
}

void fit_model(models::ModelConfig& model, int64_t dim, int64_t length) {
  model.input_dim = dim;
  model.block_size = std::max(model.block_size, length);
}

// What of the preset's task settings the task has: negation has single positions, for example.
json preset_for_task(const json& preset, const std::string& task) {
  json settings = json::object();
  const json defaults = data::default_task_options(task);
  const auto found = preset.find("task");
  if (found == preset.end()) return settings;
  for (const auto& [key, value] : found->items()) {
    if (defaults.contains(key) && defaults[key] != 1) settings[key] = value;
  }
  return settings;
}

}  // namespace

Protocol protocol_from_json(const json& given, const std::string& source) {
  Protocol protocol;
  fields_from_json(given, protocol, source);
  validate(protocol);
  return protocol;
}

void validate(const TrainConfig& config) {
  validate(config.train);
  models::validate(config.model);
  if (config.task) data::validate(*config.task);
  require(config.task.has_value() != !config.data.empty(),
          "either a task or a data folder must be given");
}

nlohmann::ordered_json to_json(const TrainConfig& config) {
  nlohmann::ordered_json out{{"preset", config.preset},
                             {"train", fields_to_json(config.train)},
                             {"model", models::to_json(config.model)}};
  if (config.task) {
    out["task"] = json(*config.task);
  } else {
    out["data"] = config.data;
  }
  return out;
}

TrainConfig train_config_from_json(const json& given, const std::string& source) {
  require(given.is_object(), source + ": must be a JSON object");
  for (const auto& [key, value] : given.items()) {
    require(key == "preset" || key == "train" || key == "model" || key == "task" || key == "data",
            fmt::format("{}: unknown key '{}'", source, key));
  }
  TrainConfig config;
  try {
    config.preset = text_at(given, "preset", config.preset);
    const double size = find_preset(config.preset).size;
    const json& preset = find_preset(config.preset).settings;
    const auto layered = [&](const char* key, const char* name_key) {
      return merged(section(preset, key, name_key, source), section(given, key, name_key, source));
    };
    fields_from_json(layered("train", ""), config.train, "train");

    const json model = layered("model", "model");
    const models::ModelConfig matched =
        scaled(models::matched_config(text_at(model, "model", "edelta")), size);
    config.model =
        models::model_config_from_json(merged(json(models::to_json(matched)), model), "model");

    // Unless it is given, the block is as long as the data: fit_model_to_data() makes it so.
    if (!model.contains("block_size")) config.model.block_size = 1;

    config.data = text_at(given, "data", "");
    if (config.data.empty()) {
      const json task = section(given, "task", "task", source);
      require(task.contains("task"), "task is missing; so is a data folder");
      config.task =
          merged(preset_for_task(preset, text_at(task, "task", "")), task).get<data::TaskOptions>();
    } else {
      require(!given.contains("task"), "task and data exclude each other");
    }
    if (config.task) fit_model(config.model, config.task->dim, config.task->steps);
    validate(config);
  } catch (const InputError& error) {
    throw InputError(source + ": " + error.what());
  }
  return config;
}

data::Dataset load_data(const TrainConfig& config) {
  return config.task ? data::generate(*config.task) : data::read_dataset(config.data);
}

void fit_model_to_data(TrainConfig& config, const data::Dataset& dataset) {
  require(config.model.head == models::Head::continuous,
          "head is 'token'; training takes sequences of vectors: it must be 'continuous'");
  fit_model(config.model, dataset.train_x.size(2), dataset.train_x.size(1));
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  const auto add = [&](const char* section, const std::vector<Field>& fields) {
    for (const Field& field : fields) {
      if (*field.help != '\0') all.push_back({section, field});
    }
  };
  add("train", fields_of<Protocol>());
  add("model", models::model_fields());
  add("task", data::task_fields());
  return all;
}

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all{
      {"paper", "the paper's protocol and matched sizes", json::object()},
      // Chosen by measurement, see docs/reproduction.md: with the paper's models or dimensions,
      // what fits into a minute does not leave the plateau of predicting zero; with fewer than the
      // paper's iterations the hybrid leaves it too late to lead.
      {"quick",
       "models of half the depth and width, dimension 16, 64 positions: 45 s a run on one core",
       {{"train",
         {{"batch", 16}, {"warmup", 50}, {"eval_interval", 100}, {"checkpoint_interval", 250}}},
        {"task", {{"dim", 16}, {"steps", 64}, {"train", 1000}, {"val", 200}}}},
       /*size=*/0.5},
      {"smoke",
       "small models and short sequences: seconds",
       {{"train",
         {{"iterations", 800},
          {"batch", 16},
          {"warmup", 20},
          {"lr", 3e-3},
          {"min_lr", 3e-4},
          {"eval_interval", 50},
          {"checkpoint_interval", 100}}},
        {"model", {{"n_layer", 2}, {"n_embd", 64}}},
        {"task", {{"dim", 16}, {"steps", 16}, {"train", 256}, {"val", 64}}}}}};
  return all;
}

}  // namespace edelta::train
