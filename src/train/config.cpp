#include "edelta/train/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "data/data_kind.h"
#include "edelta/base/error.h"
#include "edelta/base/json_fields.h"
#include "edelta/base/machine.h"
#include "edelta/data/tokens.h"
#include "edelta/models/registry.h"
#include "train/config_sections.h"

namespace edelta::train {

namespace {

using nlohmann::json;

void require_positive(const char* key, int64_t value) {
  require(value >= 1, fmt::format("{} is {}; it must be at least 1", key, value));
}

// What settings of a section may be called.
std::vector<Field> section_fields(const std::string& section) {
  if (section == "train") return fields_of<Protocol>();
  return section == "model" ? models::model_fields() : data::task_fields();
}

json section(const json& given, const char* key) {
  return config_section(given, key, section_fields(key));
}

models::ModelConfig scaled(models::ModelConfig matched, double size) {
  const auto part = [=](int64_t of) {
    return static_cast<int64_t>(size * static_cast<double>(of));
  };
  matched.n_layer = std::max<int64_t>(1, part(matched.n_layer));
  matched.n_embd = part(matched.n_embd);
  return matched;
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
  require(protocol.decay_iterations == 0 || protocol.decay_iterations > protocol.warmup,
          fmt::format("decay_iterations is {}; it must be 0 or more than warmup ({})",
                      protocol.decay_iterations, protocol.warmup));
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

const Preset& find_preset(const std::string& name) {
  std::string known;
  for (const Preset& preset : presets()) {
    if (preset.name == name) return preset;
    known += (known.empty() ? "" : ", ") + preset.name;
  }
  throw InputError(fmt::format("preset is '{}'; it must be one of: {}", name, known));
}

Protocol protocol_from_json(const json& given, const std::string& source) {
  Protocol protocol;
  fields_from_json(given, protocol, source);
  validate(protocol);
  return protocol;
}

void validate(const TrainConfig& config) {
  validate(config.train);
  if (config.recursive) return validate_recursive(config);
  models::validate(config.model);
  if (config.task) data::validate(*config.task);
  require(config.task.has_value() != !config.data.empty(),
          "either a task or a data folder must be given");
}

nlohmann::ordered_json to_json(const TrainConfig& config) {
  if (config.recursive) return recursive_to_json(config);
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

namespace {

// What `given` and the preset say of the model, completed by what follows from the data.
json model_settings(const json& given, const json& preset, bool tokens) {
  json model = merged(section(preset, "model"), section(given, "model"));
  if (tokens && !model.contains("head")) model["head"] = "token";
  const auto head = model.find("head");
  const auto& architecture = models::find_architecture(text_at(model, "model", "edelta"));
  // Operators that look at the whole sequence would see the tokens that are to be predicted.
  if (head != model.end() && *head == "token" && !model.contains("pool") &&
      has_option(architecture, "pool")) {
    model["pool"] = "prefix";
  }
  return model;
}

void require_causal(const models::ModelConfig& model) {
  if (model.head != models::Head::token) return;
  require(models::find_architecture(model.model).causal(model),
          "pool is 'sequence'; with tokens every position would see those that it is to predict: "
          "it must be prefix or token");
}

TrainConfig read_train_config(const json& given) {
  require(given.is_object(), "must be a JSON object");
  refuse_unknown_keys(given, {"preset", "train", "model", "task", "puzzles", "data"},
                      "the configuration");
  for (const auto& [key, value] : given.items()) {
    require(!value.is_null(), fmt::format("{} is null; leave it out instead", key));
  }
  if (is_recursive(given)) return read_recursive_config(given);
  require(!given.contains("puzzles"), "puzzles are for recursive models");
  TrainConfig config;
  config.data = text_at(given, "data", "");
  require(!given.contains("data") || !config.data.empty(), "data is empty; it must be a folder");
  const bool tokens = !config.data.empty() && data::is_token_folder(config.data);
  config.preset = text_at(given, "preset", tokens ? "chars" : config.preset);
  require(!find_preset(config.preset).recursive,
          fmt::format("preset {} is for recursive models: {}", config.preset,
                      enum_choices<models::Recursion>()));
  const double size = find_preset(config.preset).size;
  const json& preset = find_preset(config.preset).settings;
  const json protocol = section(given, "train");
  fields_from_json(merged(section(preset, "train"), protocol), config.train, "train");
  if (!protocol.contains("warmup")) scale_warmup(config.train);

  const json model = model_settings(given, preset, tokens);
  const models::ModelConfig matched =
      scaled(models::matched_config(text_at(model, "model", "edelta")), size);
  // No more than these: what is not named has defaults that may follow what is.
  const json sizes{
      {"model", matched.model}, {"n_layer", matched.n_layer}, {"n_embd", matched.n_embd}};
  config.model = models::model_config_from_json(merged(sizes, model), "model");
  config.own_block = model.contains("block_size");
  if (model.contains("vocab_size")) config.vocab = config.model.vocab_size;
  require_causal(config.model);

  if (config.data.empty()) {
    const json task = section(given, "task");
    require(task.contains("task"), "task is missing; so is a data folder");
    require(config.model.head == models::Head::continuous,
            fmt::format("the preset or the head is for text; '{}' is sequences of vectors",
                        text_at(task, "task", "")));
    config.task =
        merged(preset_for_task(preset, text_at(task, "task", "")), task).get<data::TaskOptions>();
    fit_model(config, config.task->dim, config.task->steps);
  } else {
    const json task = section(given, "task");
    std::vector<std::string> settings;
    for (const auto& entry : task.items()) settings.push_back(entry.key());
    require(settings.empty(),
            fmt::format("data of one's own and the settings of a task ({}) exclude each other",
                        fmt::join(settings, ", ")));
  }
  validate(config);
  return config;
}

}  // namespace

TrainConfig train_config_from_json(const json& given, const std::string& source) {
  if (source.empty()) return read_train_config(given);
  TrainConfig config;
  with_source(source, [&] { config = read_train_config(given); });
  return config;
}

data::Dataset load_data(const TrainConfig& config) {
  require(config.model.head == models::Head::continuous,
          "this looks at models of vectors; the run's is one of text");
  if (config.task) return data::generate(*config.task);
  data::require_kind(config.data, data::DataKind::sequences);
  return data::read_dataset(config.data);
}

void fit_model(TrainConfig& config, int64_t dim, int64_t length) {
  models::ModelConfig& model = config.model;
  model.input_dim = dim;
  if (!config.own_block) model.block_size = length;
  require(model.block_size >= length,
          fmt::format("{} is {}; the sequences have {} positions",
                      field_name<models::ModelConfig>("block_size"), model.block_size, length));
}

void require_memory(const TrainConfig& config, int64_t positions) {
  constexpr double kCopies = 4;  // weights, gradients and two moments
  const auto batch = static_cast<double>(config.train.batch);
  if (config.recursive) {
    const models::RecursiveConfig& model = config.recursive->model;
    models::require_memory(model, kCopies);
    // The state before each sub-layer of the calls that have a gradient.
    return base::require_memory(
        sizeof(float) * 2.0 * static_cast<double>(model.layers_with_gradient()) *
            static_cast<double>(model.hidden_size) * batch * static_cast<double>(model.positions()),
        fmt::format("batches of {} puzzles with {} positions, {} times a layer {} wide,",
                    config.train.batch, model.positions(), model.layers_with_gradient(),
                    model.hidden_size));
  }
  if (config.task) data::require_memory(*config.task);
  const models::ModelConfig& model = config.model;
  base::require_memory(kCopies * sizeof(float) * models::least_parameters(model),
                       models::weights_text(model) + " and their optimiser");
  // The residual stream before each sub-layer, which the backward pass needs.
  base::require_memory(sizeof(float) * 2.0 * static_cast<double>(model.n_layer) *
                           static_cast<double>(model.n_embd) * batch *
                           static_cast<double>(positions),
                       fmt::format("batches of {} sequences with {} positions, {} layers {} wide,",
                                   config.train.batch, positions, model.n_layer, model.n_embd));
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  // What has no default of its own depends on the model or the task.
  const auto add = [&](const char* section, const nlohmann::ordered_json& defaults) {
    add_settings(section, section_fields(section), defaults, all);
  };
  nlohmann::ordered_json model = models::to_json(models::ModelConfig{});
  for (const char* key : {"n_layer", "n_embd", "block_size", "vocab_size"}) model.erase(key);
  add("train", fields_to_json(Protocol{}));
  add("model", model);
  add("task", {{"seed", data::TaskOptions{}.seed}});
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
      // Chosen by measurement, see docs/reproduction.md: what lowers the loss on stability at the
      // paper's size, and near π with small models, are the maps around both sub-layers, which fold
      // away after training, and a schedule that ends low enough. One map before the MLP is ahead
      // of them on stability with small models alone.
      {"best",
       "what we recommend: no operator, maps around each sub-layer, learning rate down to 1e-5",
       {{"train", {{"min_lr", 1e-5}}}, {"model", {{"model", "edelta"}, {"branch", "none"}}}}},
      {"chars",
       "text: the matched sizes, windows of 128 tokens: minutes on two cores",
       {{"train", {{"batch", 16}, {"beta2", 0.99}, {"eval_interval", 250}}},
        {"model", {{"head", "token"}, {"block_size", 128}}}}},
      {"gpt2",
       "text: the sizes and the protocol of GPT-2's smallest model; weeks on two cores",
       {{"train",
         {{"iterations", 600'000},
          {"batch", 12},
          {"accumulate", 40},
          {"lr", 6e-4},
          {"min_lr", 6e-5},
          {"warmup", 2000},
          {"eval_interval", 1000}}},
        {"model",
         {{"head", "token"},
          {"n_layer", 12},
          {"n_embd", 768},
          {"n_head", 12},
          {"block_size", 1024}}}}},
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
        {"task", {{"dim", 16}, {"steps", 16}, {"train", 256}, {"val", 64}}}}},
      {"trm",
       "puzzles of your own: the published sizes and protocol of recursive models; days",
       {{"train",
         {{"iterations", 100'000},
          {"batch", 768},
          {"lr", 1e-4},
          {"min_lr", 1e-4},
          {"warmup", 2000},
          {"eval_interval", 1000}}}},
       /*size=*/1,
       /*recursive=*/true},
      {"sudoku4",
       "puzzles: Sudoku of 4×4 cells; a minute",
       {{"train",
         {{"iterations", 400},
          {"batch", 64},
          {"lr", 2e-3},
          {"min_lr", 2e-4},
          {"warmup", 40},
          {"weight_decay", 1},
          {"puzzle_emb_lr", 1e-3},
          {"checkpoint_interval", 50},
          {"eval_interval", 50}}},
        {"model",
         {{"hidden_size", 64},
          {"num_heads", 4},
          {"puzzle_emb_len", 1},
          {"H_cycles", 2},
          {"L_cycles", 2},
          {"halt_max_steps", 4},
          {"mlp_t", true}}},
        {"puzzles",
         {{"kind", "sudoku"}, {"size", 4}, {"train", 2000}, {"test", 500}, {"views", 7}}}},
       /*size=*/1,
       /*recursive=*/true},
      {"sudoku6",
       "puzzles: Sudoku of 6×6 cells; a quarter of an hour",
       {{"train",
         {{"iterations", 1500},
          {"batch", 64},
          {"lr", 1e-3},
          {"min_lr", 1e-4},
          {"warmup", 100},
          {"weight_decay", 1},
          {"puzzle_emb_lr", 1e-3},
          {"eval_interval", 250}}},
        {"model",
         {{"hidden_size", 128},
          {"num_heads", 4},
          {"puzzle_emb_len", 1},
          {"H_cycles", 2},
          {"L_cycles", 3},
          {"halt_max_steps", 6},
          {"mlp_t", true}}},
        {"puzzles",
         {{"kind", "sudoku"}, {"size", 6}, {"train", 20'000}, {"test", 500}, {"views", 7}}}},
       /*size=*/1,
       /*recursive=*/true},
      {"maze",
       "puzzles: mazes of 9×9 cells; half an hour of one core",
       {{"train",
         {{"iterations", 6000},
          {"batch", 64},
          {"lr", 4e-3},
          {"min_lr", 4e-4},
          {"warmup", 100},
          {"weight_decay", 0.1},
          {"puzzle_emb_lr", 1e-3},
          {"eval_interval", 250}}},
        // Attention stays for long where it marks no way at all.
        {"model",
         {{"hidden_size", 64},
          {"num_heads", 4},
          {"puzzle_emb_len", 1},
          {"H_cycles", 2},
          {"L_cycles", 2},
          {"halt_max_steps", 4},
          {"mlp_t", true}}},
        {"puzzles",
         {{"kind", "maze"}, {"size", 9}, {"train", 20'000}, {"test", 500}, {"views", 7}}}},
       /*size=*/1,
       /*recursive=*/true}};
  return all;
}

}  // namespace edelta::train
