// Models on disk: a folder with model.safetensors and config.json.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "edelta/base/safetensors.h"
#include "edelta/models/model.h"

namespace edelta::models {

// The parameters by name, without the tied lm_head.
base::TensorMap parameters_of(const Model& model);

// Copies `parameters` into the model, converting the dtype. Published names are accepted: a leading
// "core." is dropped, and tensors that a published model carries but this one has no use for (the
// wte/wpe of a continuous model, a tied lm_head, attention masks) are passed over; what was, is
// returned, one line each, for the user to see. A missing, unknown or misshapen parameter, or one
// with a value that is not finite, is an InputError that names it and `source`; the model is then
// unchanged.
std::vector<std::string> load_parameters(Model& model, const base::TensorMap& parameters,
                                         const std::string& source);

// Where the metadata of a weight file keeps the model's configuration, as JSON.
inline constexpr const char* kConfigKey = "config";

// `metadata` goes into model.safetensors, beside the configuration.
void save_model(const std::filesystem::path& folder, const Model& model,
                const base::Metadata& metadata = {});

struct LoadedModel {
  std::shared_ptr<Model> model;
  std::vector<std::string> notices;
  base::Metadata metadata;
  bool checked = false;  // by a checksum
};
// InputError where the two files do not belong together.
LoadedModel load_model(const std::filesystem::path& folder);

}  // namespace edelta::models
