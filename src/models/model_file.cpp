#include "edelta/models/model_file.h"

#include <nlohmann/json.hpp>

#include "models/model_folder.h"

namespace edelta::models {
namespace {

// Why a tensor that the model does not have may be passed over; empty if it may not.
std::string reason_to_ignore(const std::string& name, const ModelConfig& config) {
  const bool embedding = name == "transformer.wte.weight" || name == "transformer.wpe.weight";
  const bool tied = name == "lm_head.weight";
  if ((embedding || tied) && config.head == Head::continuous) {
    return "a continuous model does not use it";
  }
  if (tied) return "lm_head is tied to transformer.wte";
  if (name.ends_with(".attn.bias") || name.ends_with(".attn.mask")) return "a mask, no parameter";
  return {};
}

}  // namespace

base::TensorMap parameters_of(const Model& model) {
  base::TensorMap parameters;
  for (const auto& item : model.named_parameters()) {
    parameters.emplace(item.key(), item.value().detach());
  }
  return parameters;
}

std::vector<std::string> load_parameters(Model& model, const base::TensorMap& parameters,
                                         const std::string& source) {
  return copy_tensors(parameters_of(model), parameters, source, [&](const std::string& name) {
    return reason_to_ignore(name, model.config());
  });
}

void save_model(const std::filesystem::path& folder, const Model& model,
                const base::Metadata& metadata) {
  write_model_folder(folder, parameters_of(model), to_json(model.config()), metadata);
}

LoadedModel load_model(const std::filesystem::path& folder) {
  ModelFolder found = read_model_folder(folder);
  auto model = make_model(model_config_from_json(found.config, found.config_source));
  auto notices = load_parameters(*model, found.file.tensors, found.file.source);
  return {std::move(model), std::move(notices), std::move(found.file.metadata), found.file.checked};
}

}  // namespace edelta::models
