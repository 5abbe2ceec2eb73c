#include "edelta/models/model.h"

#include <fmt/format.h>

#include "edelta/base/machine.h"
#include "edelta/models/registry.h"
#include "models/transformer.h"

namespace edelta::models {

using torch::Tensor;

Tensor Model::predict(const Tensor& input) {
  State state;
  return forward({input}, state).prediction;
}

int64_t Model::parameter_count() const {
  int64_t count = 0;
  for (const Tensor& parameter : parameters()) count += parameter.numel();
  return count;
}

double least_parameters(const ModelConfig& config) {
  const bool narrow = find_architecture(config.model).sublayer_width == SubLayerWidth::stream;
  const auto width = static_cast<double>(narrow ? config.stream_width() : config.n_embd);
  const int64_t tokens = config.head == Head::token ? config.vocab_size : 0;
  // Attention has 4 maps of width × width, the MLP 8.
  return 12 * width * width * static_cast<double>(config.n_layer) +
         static_cast<double>(tokens) * static_cast<double>(config.n_embd);
}

std::string weights_text(const ModelConfig& config) {
  return fmt::format("the weights of {} layers {} wide", config.n_layer, config.n_embd);
}

std::shared_ptr<Model> make_model(const ModelConfig& config, uint64_t seed) {
  validate(config);
  const Architecture& architecture = find_architecture(config.model);
  if (architecture.make_model) return architecture.make_model(config, seed);
  base::require_memory(sizeof(float) * least_parameters(config), weights_text(config));
  return std::make_shared<Transformer>(config, seed);
}

}  // namespace edelta::models
