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

// How far it has come, without the tensors and their checksum: for an overview of many runs.
Progress read_progress(const std::filesystem::path& file);

}  // namespace edelta::train
