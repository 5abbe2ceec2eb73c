// The state of a run in one file: whole or absent, and verified when read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "edelta/models/model.h"
#include "edelta/train/optimiser.h"

namespace edelta::train {

// Batches and dropout depend on nothing but the seed and the iteration, so the iteration is all the
// generator state there is.
struct Progress {
  int64_t iteration = 0;  // iterations done
  int64_t best_iteration = 0;
  double best_val_loss = 0;
  double initial_val_loss = 0;
  double seconds = 0;       // spent so far
  std::string run;          // whose progress: RunManifest::id
  std::string metrics_sum;  // of the last line of metrics.jsonl so far
};

void write_checkpoint(const std::filesystem::path& file, const models::Model& model,
                      const AdamW& optimiser, const models::State& state, const Progress& progress);

// InputError where the file is damaged or belongs to another model.
Progress read_checkpoint(const std::filesystem::path& file, models::Model& model, AdamW& optimiser,
                         models::State& state);

// The same of tensors by name, whatever they are of.
void write_checkpoint(const std::filesystem::path& file, const base::TensorMap& tensors,
                      const Progress& progress);
struct Checkpoint {
  Progress progress;
  base::TensorMap tensors;
};
Checkpoint read_checkpoint(const std::filesystem::path& file);
// Of these those whose names begin so, under the rest of their names.
base::TensorMap below(const base::TensorMap& tensors, const std::string& prefix);

// The parts of a run's state in its checkpoint.
inline constexpr const char* kModelPrefix = "model/";
inline constexpr const char* kOptimiserPrefix = "optimiser/";
inline constexpr const char* kStatePrefix = "state/";

// How far it has come, without the tensors and their checksum: for an overview of many runs.
Progress read_progress(const std::filesystem::path& file);

}  // namespace edelta::train
