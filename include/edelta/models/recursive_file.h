// Recursive models on disk: a folder with model.safetensors and config.json, as other models have.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "edelta/base/safetensors.h"
#include "edelta/models/recursive.h"

namespace edelta::models {

// Parameters and buffers by their published names: the puzzles' table and where the states start
// belong to the model as much as its weights.
base::TensorMap tensors_of(const RecursiveModel& model);

// A missing, unknown or misshapen tensor, or one with a value that is not finite, is an InputError
// that names it and `source`; the model is then unchanged.
void load_tensors(RecursiveModel& model, const base::TensorMap& tensors, const std::string& source);

// `metadata` goes into model.safetensors, beside the configuration.
void save_recursive_model(const std::filesystem::path& folder, const RecursiveModel& model,
                          const base::Metadata& metadata = {});

struct LoadedRecursiveModel {
  std::shared_ptr<RecursiveModel> model;
  base::Metadata metadata;
  bool checked = false;  // by a checksum
};
// InputError where the two files do not belong together.
LoadedRecursiveModel load_recursive_model(const std::filesystem::path& folder);

}  // namespace edelta::models
