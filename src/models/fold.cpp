#include "edelta/models/fold.h"

#include <fmt/format.h>

#include "edelta/base/error.h"
#include "edelta/models/architecture_options.h"
#include "edelta/models/model_file.h"
#include "edelta/models/registry.h"

namespace edelta::models {
namespace {

using base::TensorMap;
using torch::Tensor;

// A sub-layer's first and last linear map, by their published names.
struct Maps {
  const char *site, *first, *last;
};
constexpr Maps kMaps[] = {{"attn", "attn.c_attn", "attn.c_proj"},
                          {"mlp", "mlp.c_fc", "mlp.c_proj"}};

ModelConfig folded_config(ModelConfig config) {
  if (!has_option(find_architecture(config.model), "projections")) {
    throw InputError(fmt::format("a {} model has no maps that fold", config.model));
  }
  config.options.get<ProjectionMapOptions>() = {.projections = Projections::off};
  if (config.options.get<HybridOptions>().branch == geometry::Branch::none) config.model = "gpt";
  return config;
}

// Removes the factors of a map and returns their product; undefined where there are none.
Tensor taken_map(TensorMap& parameters, const std::string& layer, const char* name,
                 const char* site) {
  Tensor product;
  for (int64_t i = 1;; ++i) {
    const std::string number = i == 1 ? "" : std::to_string(i);
    const auto found = parameters.find(fmt::format("{}{}{}_{}.weight", layer, name, number, site));
    if (found == parameters.end()) return product;
    product = product.defined() ? found->second.matmul(product) : found->second;
    parameters.erase(found);
  }
}

void fold(TensorMap& parameters, const std::string& layer, const Maps& maps) {
  const Tensor pre = taken_map(parameters, layer, "h_pre", maps.site);
  const Tensor post = taken_map(parameters, layer, "h_post", maps.site);
  if (pre.defined()) {
    Tensor& first = parameters.at(layer + maps.first + ".weight");
    first = first.matmul(pre);
  }
  if (!post.defined()) return;
  Tensor& last = parameters.at(layer + maps.last + ".weight");
  last = post.matmul(last);
  const auto bias = parameters.find(layer + maps.last + ".bias");
  if (bias != parameters.end()) bias->second = post.matmul(bias->second);
}

}  // namespace

std::shared_ptr<Model> folded(const Model& model) {
  const ModelConfig config = folded_config(model.config());
  TensorMap parameters = parameters_of(model);
  for (auto& [name, value] : parameters) value = value.to(torch::kFloat64);
  for (int64_t layer = 0; layer < config.n_layer; ++layer) {
    for (const Maps& maps : kMaps) fold(parameters, fmt::format("transformer.h.{}.", layer), maps);
  }
  auto result = make_model(config);
  load_parameters(*result, parameters, "the folded model");
  result->train(model.is_training());
  return result;
}

}  // namespace edelta::models
