#include "edelta/models/model.h"

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

std::shared_ptr<Model> make_model(const ModelConfig& config, uint64_t seed) {
  validate(config);
  const Architecture& architecture = find_architecture(config.model);
  if (architecture.make_model) return architecture.make_model(config, seed);
  return std::make_shared<Transformer>(config, seed);
}

}  // namespace edelta::models
