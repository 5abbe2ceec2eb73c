#include "models/connections/geometric.h"

namespace edelta::models {

using torch::Tensor;

Tensor GeometricResidual::operator()(const Tensor& x, Seen& seen) const {
  const auto pooled = ops::pool(x, pool_);
  const geometry::OperatorParameters parameters = generator_->generate(pooled.y);
  const geometry::StreamOperator g = geometry::hybrid_operator(parameters, branch_, blend_);
  if (parameters.gamma.defined()) seen.gates.push_back(parameters.gamma);
  if (seen.record_operators) seen.operators.push_back(g.value);
  return g(pooled.x);
}

std::shared_ptr<geometry::Generator> make_generator(
    const ModelConfig& config, int64_t hidden,
    std::shared_ptr<geometry::Generator> (*make_data)(const geometry::GeneratorOptions&)) {
  const auto hybrid = config.options.get<HybridOptions>();
  const geometry::GeneratorOptions options{.width = config.n_embd,
                                           .streams = config.n_streams,
                                           .hidden = hidden,
                                           .branch = hybrid.branch,
                                           .init_gate_bias = hybrid.init_gate_bias};
  return hybrid.generator == geometry::GeneratorKind::fixed ? make_fixed_generator(options)
                                                            : make_data(options);
}

}  // namespace edelta::models
