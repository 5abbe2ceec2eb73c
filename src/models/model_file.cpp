#include "edelta/models/model_file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>

#include "base/atomic_file.h"
#include "base/json.h"
#include "edelta/base/error.h"

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
  base::TensorMap own = parameters_of(model);
  std::vector<std::pair<Tensor, Tensor>> copies;
  std::vector<std::string> notices;
  for (const auto& [given_name, value] : parameters) {
    const std::string name = published_name(given_name);
    const auto found = own.find(name);
    if (found == own.end()) {
      const std::string reason = reason_to_ignore(name, model.config());
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

void save_model(const std::filesystem::path& folder, const Model& model,
                const base::Metadata& metadata) {
  base::make_folder(folder);
  const nlohmann::ordered_json config = to_json(model.config());
  base::Metadata all = metadata;
  all["format"] = "pt";
  all[kConfigKey] = config.dump();
  // The weights first: a model.safetensors that names another configuration is noticed.
  base::write_safetensors(folder / "model.safetensors", parameters_of(model), all);
  base::write_json(folder / "config.json", config);
}

LoadedModel load_model(const std::filesystem::path& folder) {
  const std::filesystem::path config_path = folder / "config.json";
  const nlohmann::json json = base::read_json(config_path);
  const auto config = model_config_from_json(json, config_path.string());
  base::TensorFile file = base::read_safetensors(folder / "model.safetensors");
  const auto own = file.metadata.find(kConfigKey);
  if (own != file.metadata.end() && base::parse_json(own->second, file.source) != json) {
    throw InputError(fmt::format("{} does not belong to {}: its configuration is another",
                                 config_path.string(), file.source));
  }
  auto model = make_model(config);
  auto notices = load_parameters(*model, file.tensors, file.source);
  return {std::move(model), std::move(notices), std::move(file.metadata), file.checked};
}

}  // namespace edelta::models
