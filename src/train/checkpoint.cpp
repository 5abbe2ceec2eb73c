#include "edelta/train/checkpoint.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/required_fields.h"
#include "edelta/base/error.h"
#include "edelta/models/model_file.h"

namespace edelta::train {
namespace {

using base::TensorMap;

constexpr const char* kProgressKey = "progress";

// Numbers as JSON text, which keeps every bit of a double.
std::string to_text(const Progress& progress) {
  return nlohmann::ordered_json{{"iteration", progress.iteration},
                                {"best_iteration", progress.best_iteration},
                                {"best_val_loss", progress.best_val_loss},
                                {"initial_val_loss", progress.initial_val_loss},
                                {"seconds", progress.seconds},
                                {"run", progress.run},
                                {"metrics_sum", progress.metrics_sum}}
      .dump();
}

// Version 0.1.0 wrote no such texts.
std::string text_or_nothing(const nlohmann::json& json, const char* key) {
  return json.contains(key) ? base::required<std::string>(json, key) : std::string();
}

Progress from_text(const std::string& text, const std::string& source) {
  Progress progress;
  with_source(source, [&] {
    const nlohmann::json json = base::parse_json(text, "progress");
    progress = {base::required<int64_t>(json, "iteration"),
                base::required<int64_t>(json, "best_iteration"),
                base::required<double>(json, "best_val_loss"),
                base::required<double>(json, "initial_val_loss"),
                base::required<double>(json, "seconds"),
                text_or_nothing(json, "run"),
                text_or_nothing(json, "metrics_sum")};
  });
  return progress;
}

}  // namespace

TensorMap below(const TensorMap& tensors, const std::string& prefix) {
  TensorMap found;
  for (const auto& [name, tensor] : tensors) {
    if (name.starts_with(prefix)) found.emplace(name.substr(prefix.size()), tensor);
  }
  return found;
}

void write_checkpoint(const std::filesystem::path& file, const TensorMap& tensors,
                      const Progress& progress) {
  base::write_safetensors(file, tensors, {{kProgressKey, to_text(progress)}});
}

Checkpoint read_checkpoint(const std::filesystem::path& file) {
  base::TensorFile found = base::read_safetensors(file);
  const Progress progress = from_text(found.metadata_at(kProgressKey), file.string());
  if (!found.checked && !progress.run.empty()) {
    throw InputError(fmt::format("{}: it has lost its checksum", file.string()));
  }
  return {progress, std::move(found.tensors)};
}

void write_checkpoint(const std::filesystem::path& file, const models::Model& model,
                      const AdamW& optimiser, const models::State& state,
                      const Progress& progress) {
  TensorMap tensors;
  for (const auto& [name, tensor] : models::parameters_of(model)) {
    tensors.emplace(kModelPrefix + name, tensor);
  }
  for (const auto& [name, tensor] : optimiser.state()) {
    tensors.emplace(kOptimiserPrefix + name, tensor);
  }
  for (const auto& [name, tensor] : state) tensors.emplace(kStatePrefix + name, tensor);
  write_checkpoint(file, tensors, progress);
}

Progress read_checkpoint(const std::filesystem::path& file, models::Model& model, AdamW& optimiser,
                         models::State& state) {
  const auto checkpoint = read_checkpoint(file);
  const Progress& progress = checkpoint.progress;
  models::load_parameters(model, below(checkpoint.tensors, kModelPrefix), file.string());
  optimiser.load_state(below(checkpoint.tensors, kOptimiserPrefix), progress.iteration,
                       file.string());
  state = below(checkpoint.tensors, kStatePrefix);
  return progress;
}

Progress read_progress(const std::filesystem::path& file) {
  const base::TensorFile checkpoint = base::read_safetensors_metadata(file);
  return from_text(checkpoint.metadata_at(kProgressKey), file.string());
}

}  // namespace edelta::train
