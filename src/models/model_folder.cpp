#include "models/model_folder.h"

#include <fmt/format.h>

#include <string_view>

#include "base/atomic_file.h"
#include "base/json.h"
#include "edelta/base/error.h"
#include "edelta/models/model_file.h"

namespace edelta::models {
namespace {

using torch::Tensor;

std::string published_name(const std::string& name) {
  constexpr std::string_view prefix = "core.";
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

std::string shape_text(const Tensor& tensor) {
  return fmt::format("[{}]", fmt::join(tensor.sizes(), ", "));
}

}  // namespace

std::vector<std::string> copy_tensors(
    base::TensorMap own, const base::TensorMap& given, const std::string& source,
    const std::function<std::string(const std::string&)>& reason_to_ignore) {
  std::vector<std::pair<Tensor, Tensor>> copies;
  std::vector<std::string> notices;
  for (const auto& [given_name, value] : given) {
    const std::string name = published_name(given_name);
    const auto found = own.find(name);
    if (found == own.end()) {
      const std::string reason = reason_to_ignore(name);
      if (reason.empty()) {
        throw InputError(fmt::format("{}: the model has no parameter '{}'", source, given_name));
      }
      notices.push_back(fmt::format("{}: '{}' is passed over: {}", source, given_name, reason));
      continue;
    }
    if (found->second.sizes() != value.sizes()) {
      throw InputError(fmt::format("{}: '{}' has shape {}; the model's has {}", source, given_name,
                                   shape_text(value), shape_text(found->second)));
    }
    if (!torch::isfinite(value).all().item<bool>()) {
      throw InputError(fmt::format("{}: '{}' has values that are not finite", source, given_name));
    }
    copies.emplace_back(found->second, value);
    own.erase(found);
  }
  if (!own.empty()) {
    throw InputError(fmt::format(
        "{}: the parameter '{}' is missing{}", source, own.begin()->first,
        own.size() > 1 ? fmt::format(" (and {} more)", own.size() - 1) : std::string()));
  }
  const torch::NoGradGuard no_grad;
  for (auto& [target, value] : copies) target.copy_(value);
  return notices;
}

void write_model_folder(const std::filesystem::path& folder, const base::TensorMap& tensors,
                        const nlohmann::ordered_json& config, const base::Metadata& metadata) {
  base::make_folder(folder);
  base::Metadata all = metadata;
  all["format"] = "pt";
  all[kConfigKey] = config.dump();
  // The weights first: a model.safetensors that names another configuration is noticed.
  base::write_safetensors(folder / "model.safetensors", tensors, all);
  base::write_json(folder / "config.json", config);
}

ModelFolder read_model_folder(const std::filesystem::path& folder) {
  const std::filesystem::path config_path = folder / "config.json";
  ModelFolder found{base::read_json(config_path), config_path.string(),
                    base::read_safetensors(folder / "model.safetensors")};
  const auto own = found.file.metadata.find(kConfigKey);
  if (own != found.file.metadata.end() &&
      base::parse_json(own->second, found.file.source) != found.config) {
    throw InputError(fmt::format("{} does not belong to {}: its configuration is another",
                                 found.config_source, found.file.source));
  }
  return found;
}

}  // namespace edelta::models
