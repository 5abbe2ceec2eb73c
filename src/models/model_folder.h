// What all kinds of models have in common on disk: named tensors beside a configuration.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "edelta/base/safetensors.h"

namespace edelta::models {

// Copies `given` into the tensors `own` of a model, converting the dtype; a leading "core." of
// published names is dropped. `reason_to_ignore(name)` says why a tensor that the model does not
// have may be passed over, empty: it may not; what was, is returned, one line each. InputError,
// with the model unchanged, as for load_parameters().
std::vector<std::string> copy_tensors(
    base::TensorMap own, const base::TensorMap& given, const std::string& source,
    const std::function<std::string(const std::string&)>& reason_to_ignore);

// model.safetensors and config.json.
void write_model_folder(const std::filesystem::path& folder, const base::TensorMap& tensors,
                        const nlohmann::ordered_json& config, const base::Metadata& metadata);

struct ModelFolder {
  nlohmann::json config;
  std::string config_source;  // named in messages
  base::TensorFile file;
};
// InputError where the two files do not belong together.
ModelFolder read_model_folder(const std::filesystem::path& folder);

}  // namespace edelta::models
