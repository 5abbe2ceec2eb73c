#include "edelta/models/recursive_file.h"

#include "models/model_folder.h"

namespace edelta::models {

base::TensorMap tensors_of(const RecursiveModel& model) {
  base::TensorMap tensors;
  for (const auto& item : model.named_parameters()) {
    tensors.emplace(item.key(), item.value().detach());
  }
  for (const auto& item : model.named_buffers()) tensors.emplace(item.key(), item.value());
  return tensors;
}

void load_tensors(RecursiveModel& model, const base::TensorMap& tensors,
                  const std::string& source) {
  copy_tensors(tensors_of(model), tensors, source,
               [](const std::string&) { return std::string(); });
}

void save_recursive_model(const std::filesystem::path& folder, const RecursiveModel& model,
                          const base::Metadata& metadata) {
  write_model_folder(folder, tensors_of(model), to_json(model.config()), metadata);
}

LoadedRecursiveModel load_recursive_model(const std::filesystem::path& folder) {
  ModelFolder found = read_model_folder(folder);
  const RecursiveConfig config = recursive_config_from_json(found.config, found.config_source);
  require_memory(config);
  auto model = std::make_shared<RecursiveModel>(config, /*seed=*/0);
  load_tensors(*model, found.file.tensors, found.file.source);
  return {std::move(model), std::move(found.file.metadata), found.file.checked};
}

}  // namespace edelta::models
