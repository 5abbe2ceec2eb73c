#include "edelta/probes/depth.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/required_fields.h"
#include "edelta/base/error.h"
#include "edelta/models/registry.h"
#include "edelta/probes/probes.h"
#include "edelta/train/evaluate.h"
#include "edelta/train/schedule.h"
#include "edelta/train/trainer.h"

namespace edelta::probes {
namespace {

using torch::Tensor;

// Between the rows of each matrix of x [..., rows, width], over all pairs of different rows.
double mean_cosine(const Tensor& x) {
  const Tensor values = x.to(torch::kFloat64);
  const Tensor rows =
      values / values.norm(2, -1, /*keepdim=*/true).clamp_min(std::numeric_limits<float>::min());
  const auto count = static_cast<double>(x.size(-2));
  // |Σ x̂|² has every pair twice and each row with itself.
  const Tensor pairs = rows.sum(-2).square().sum(-1) - rows.square().sum({-2, -1});
  return (pairs / (count * (count - 1))).mean().item<double>();
}

double length(const Tensor& x) { return x.to(torch::kFloat64).norm().item<double>(); }

// How many streams the model's tokens have; 1 where there are none.
int64_t streams_of(const models::ModelConfig& config) {
  return models::find_architecture(config.model).streams ? config.n_streams : 1;
}

std::vector<std::string> models_of(const DepthProbeOptions& options) {
  if (!options.models.empty()) return options.models;
  std::vector<std::string> all;
  for (const auto& architecture : models::architectures()) all.push_back(architecture.name);
  return all;
}

// A setting that no chosen model has is a mistake.
void require_owners(const DepthProbeOptions& options) {
  const std::vector<std::string> chosen = models_of(options);
  for (const Field& field : models::model_fields()) {
    const auto owns = [&](const std::string& model) {
      return has_option(models::find_architecture(model), field.key);
    };
    if (options.model_settings.contains(field.key) &&
        std::none_of(chosen.begin(), chosen.end(), owns)) {
      throw InputError(
          fmt::format("no model of {} has {}", fmt::join(chosen, ", "), field.flag_name()));
    }
  }
}

train::TrainConfig configuration(const DepthProbeOptions& options, const std::string& model,
                                 int64_t layers) {
  const models::Architecture& architecture = models::find_architecture(model);
  nlohmann::json settings{{"model", model}};
  for (const auto& [key, value] : options.model_settings.items()) {
    if (has_option(architecture, key)) settings[key] = value;
  }
  settings["n_layer"] = layers;
  nlohmann::json task = options.task_settings;
  task["task"] = options.task;
  nlohmann::json protocol{{"seed", options.seed}};
  if (options.iterations > 0) protocol["iterations"] = options.iterations;
  return train::train_config_from_json(
      {{"preset", options.preset}, {"train", protocol}, {"model", settings}, {"task", task}},
      fmt::format("{} with {} layers", model, layers));
}

std::vector<train::TrainConfig> configurations(const DepthProbeOptions& options) {
  if (options.layers.empty()) throw InputError("the depth probe needs at least one depth");
  if (options.iterations < 0) {
    throw InputError(fmt::format("iterations is {}; it must not be negative", options.iterations));
  }
  require_owners(options);
  std::vector<train::TrainConfig> configs;
  for (const std::string& model : models_of(options)) {
    for (const int64_t layers : options.layers) {
      configs.push_back(configuration(options, model, layers));
      require_memory(configs.back(), configs.back().task->steps);
    }
  }
  return configs;
}

void train_to_the_end(models::Model& model, const train::TrainConfig& config,
                      const train::TrainingData& data,
                      const std::function<void(int64_t iteration)>& on_step) {
  train::AdamW optimiser(model, config.train);
  models::State state;
  for (int64_t iteration = 0; iteration < config.train.iterations; ++iteration) {
    const train::StepOutcome outcome =
        iteration_gradients(model, optimiser, state, config.train, data, iteration);
    if (!std::isfinite(outcome.total()) || !std::isfinite(outcome.gradient_norm)) {
      throw Failure(
          fmt::format("{} with {} layers, iteration {}: the loss is {}, the gradient norm {}",
                      config.model.model, config.model.n_layer, iteration + 1, outcome.total(),
                      outcome.gradient_norm));
    }
    update(optimiser, learning_rate(config.train, iteration), outcome);
    on_step(iteration + 1);
  }
}

nlohmann::ordered_json profile_to_json(const DepthProfile& profile) {
  nlohmann::ordered_json json{
      {"loss", profile.loss}, {"signal", profile.signal}, {"gradient", profile.gradient}};
  if (!profile.token_cosine.empty()) json["token_cosine"] = profile.token_cosine;
  if (!profile.stream_cosine.empty()) json["stream_cosine"] = profile.stream_cosine;
  if (profile.product) {
    json["product"] = {{"smallest_singular_value", profile.product->smallest_singular},
                       {"largest_singular_value", profile.product->largest_singular},
                       {"orthogonality_error", profile.product->orthogonality_error}};
  }
  return json;
}

DepthProfile profile_from_json(const nlohmann::json& json, int64_t layers) {
  DepthProfile profile{.loss = base::required_number(json, "loss")};
  const auto read = [&](const char* key, std::vector<double>& curve) {
    curve = base::required_numbers(json, key);
    if (static_cast<int64_t>(curve.size()) != layers + 1) {
      throw InputError(fmt::format("{} must have one number more than there are layers", key));
    }
  };
  read("signal", profile.signal);
  read("gradient", profile.gradient);
  if (json.contains("token_cosine")) read("token_cosine", profile.token_cosine);
  if (json.contains("stream_cosine")) read("stream_cosine", profile.stream_cosine);
  if (json.contains("product")) {
    const nlohmann::json& product = json["product"];
    profile.product = {base::required_number(product, "smallest_singular_value"),
                       base::required_number(product, "largest_singular_value"),
                       base::required_number(product, "orthogonality_error")};
  }
  return profile;
}

}  // namespace

DepthProfile profile_depth(models::Model& model, const Tensor& x, const Tensor& y,
                           int64_t sequences) {
  DepthProfile profile{.loss = train::evaluate(model, x, y).loss};
  const int64_t count = std::min(sequences, x.size(0));
  models::State state;
  const models::Output output = model.forward({x.narrow(0, 0, count), y.narrow(0, 0, count)}, state,
                                              {.record_operators = true, .record_residual = true});
  const std::vector<Tensor>& stream = output.seen.residual;
  if (stream.empty()) {
    throw InputError(
        fmt::format("a {} model does not show its residual stream", model.config().model));
  }
  // The task's own loss: what a gate's regulariser adds on the way would hide what is lost.
  const auto gradients = torch::autograd::grad({output.losses.front().value}, stream);
  const torch::NoGradGuard no_grad;
  const double last_gradient = length(gradients.back());
  const Tensor embedded = stream.front().to(torch::kFloat64).norm(2, -1);
  const int64_t streams = streams_of(model.config());
  for (size_t layer = 0; layer < stream.size(); ++layer) {
    const Tensor& x_l = stream[layer];
    profile.signal.push_back(
        (x_l.to(torch::kFloat64).norm(2, -1) / embedded).mean().item<double>());
    profile.gradient.push_back(length(gradients[layer]) / last_gradient);
    if (x_l.size(1) > 1) profile.token_cosine.push_back(mean_cosine(x_l));
    if (streams > 1) {
      profile.stream_cosine.push_back(mean_cosine(x_l.unflatten(-1, {streams, -1})));
    }
  }
  if (!output.seen.operators.empty()) {
    const OperatorSummary product = summarise_product(output.seen.operators);
    profile.product = {product.smallest_singular, product.largest_singular,
                       product.orthogonality_error};
  }
  return profile;
}

std::vector<DepthRun> probe_depth(const DepthProbeOptions& options) {
  const std::vector<train::TrainConfig> configs = configurations(options);
  const data::Dataset dataset = load_data(configs.front());
  const auto data = train::vector_data(dataset);
  DepthProgress progress{.runs = static_cast<int64_t>(configs.size()),
                         .iterations = options.iterations};
  const auto report = [&](int64_t iteration) {
    progress.iteration = iteration;
    if (options.on_progress) options.on_progress(progress);
  };
  std::vector<DepthRun> runs;
  for (const train::TrainConfig& config : configs) {
    progress.model = config.model.model;
    progress.layers = config.model.n_layer;
    report(0);
    const auto model = models::make_model(config.model, config.train.seed);
    const auto profile = [&] {
      return profile_depth(*model, dataset.val_x, dataset.val_y, options.sequences);
    };
    DepthRun& run = runs.emplace_back();
    run.model = config.model.model;
    run.layers = config.model.n_layer;
    run.start = profile();
    if (options.iterations > 0) {
      train_to_the_end(*model, config, *data, report);
      run.trained = profile();
    }
    ++progress.done;
  }
  return runs;
}

nlohmann::ordered_json to_json(const std::vector<DepthRun>& runs,
                               const DepthProbeOptions& options) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const DepthRun& run : runs) {
    nlohmann::ordered_json entry{
        {"model", run.model}, {"layers", run.layers}, {"start", profile_to_json(run.start)}};
    if (run.trained) entry["trained"] = profile_to_json(*run.trained);
    list.push_back(entry);
  }
  return {{"task", options.task},
          {"preset", options.preset},
          {"model_settings", options.model_settings},
          {"task_settings", options.task_settings},
          {"iterations", options.iterations},
          {"sequences", options.sequences},
          {"seed", options.seed},
          {"runs", list}};
}

std::vector<DepthRun> depth_runs_from_json(const nlohmann::json& json, const std::string& source) {
  std::vector<DepthRun> runs;
  with_source(source, [&] {
    for (const nlohmann::json& each : base::required_list(json, "runs")) {
      DepthRun& run = runs.emplace_back();
      run.model = base::required<std::string>(each, "model");
      run.layers = base::required<int64_t>(each, "layers");
      run.start = profile_from_json(base::required_entry(each, "start"), run.layers);
      if (each.contains("trained")) run.trained = profile_from_json(each["trained"], run.layers);
    }
  });
  return runs;
}

}  // namespace edelta::probes
