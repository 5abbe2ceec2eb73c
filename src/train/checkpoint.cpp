#include "edelta/train/checkpoint.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "edelta/base/error.h"
#include "edelta/models/model_file.h"

namespace edelta::train {
namespace {

using base::TensorMap;
using torch::Tensor;

constexpr const char* kModelPrefix = "model/";
constexpr const char* kOptimiserPrefix = "optimiser/";
constexpr const char* kStatePrefix = "state/";

// FNV-1a over names and bytes: finds damage, not malice.
class Checksum {
 public:
  void add(const void* data, size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (size_t i = 0; i < size; ++i) hash_ = (hash_ ^ bytes[i]) * 0x100000001b3ULL;
  }
  std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  uint64_t hash_ = 0xcbf29ce484222325ULL;
};

std::string checksum(const TensorMap& tensors, const std::string& progress) {
  Checksum sum;
  sum.add(progress.data(), progress.size());
  for (const auto& [name, tensor] : tensors) {
    const Tensor contiguous = tensor.contiguous();
    sum.add(name.data(), name.size());
    sum.add(contiguous.data_ptr(), contiguous.nbytes());
  }
  return sum.text();
}

TensorMap below(const TensorMap& tensors, const std::string& prefix) {
  TensorMap found;
  for (const auto& [name, tensor] : tensors) {
    if (name.starts_with(prefix)) found.emplace(name.substr(prefix.size()), tensor);
  }
  return found;
}

// Numbers as JSON text, which keeps every bit of a double.
std::string to_text(const Progress& progress) {
  return nlohmann::ordered_json{{"iteration", progress.iteration},
                                {"best_iteration", progress.best_iteration},
                                {"best_val_loss", progress.best_val_loss},
                                {"initial_val_loss", progress.initial_val_loss},
                                {"seconds", progress.seconds}}
      .dump();
}

Progress from_text(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  return {json.at("iteration"), json.at("best_iteration"), json.at("best_val_loss"),
          json.at("initial_val_loss"), json.at("seconds")};
}

}  // namespace

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
  const std::string text = to_text(progress);
  base::write_safetensors(file, tensors,
                          {{"progress", text}, {"checksum", checksum(tensors, text)}});
}

Progress read_checkpoint(const std::filesystem::path& file, models::Model& model, AdamW& optimiser,
                         models::State& state) {
  const base::TensorFile checkpoint = base::read_safetensors(file);
  const std::string& text = checkpoint.metadata_at("progress");
  if (checkpoint.metadata_at("checksum") != checksum(checkpoint.tensors, text)) {
    throw InputError(
        fmt::format("{}: the checkpoint is damaged (its checksum differs)", file.string()));
  }
  const Progress progress = from_text(text);
  models::load_parameters(model, below(checkpoint.tensors, kModelPrefix), file.string());
  optimiser.load_state(below(checkpoint.tensors, kOptimiserPrefix), progress.iteration,
                       file.string());
  state = below(checkpoint.tensors, kStatePrefix);
  return progress;
}

}  // namespace edelta::train
