#include "models/connections/geometric.h"

namespace edelta::models {

using torch::Tensor;

Tensor GeometricResidual::operator()(const Tensor& x, Seen& seen) const {
  if (!generator_) return x;
  const auto pooled = ops::pool(x, pool_);
  const geometry::OperatorParameters parameters = generator_->generate(pooled.y);
  const geometry::StreamOperator g = geometry::hybrid_operator(parameters, branch_, blend_, field_);
  if (parameters.gamma.defined()) {
    const Tensor& penalised = parameters.penalised_gamma;
    seen.gates.push_back(penalised.defined() ? penalised : parameters.gamma);
  }
  if (seen.record_operators) seen.operators.push_back(g.value);
  return g(pooled.x);
}

std::optional<GeometricDecoding> GeometricResidual::decoding(const nn::DecodingRoom& room) const {
  if (!generator_) return {};
  return GeometricDecoding({generator_->decoding(), n_, branch_, blend_, field_},
                           {pool_, width_, room}, n_, width_);
}

std::shared_ptr<geometry::Generator> make_generator(
    const ModelConfig& config, Site& site, int64_t hidden,
    std::shared_ptr<geometry::Generator> (*make_data)(const geometry::GeneratorOptions&)) {
  const auto hybrid = config.options.get<HybridOptions>();
  if (hybrid.branch == geometry::Branch::none) return nullptr;
  const geometry::GeneratorOptions options{.width = config.n_embd,
                                           .streams = config.n_streams,
                                           .hidden = hidden,
                                           .branch = hybrid.branch,
                                           .init_gate_bias = hybrid.init_gate_bias,
                                           .gate_gradient = hybrid.gate_gradient,
                                           .init = hybrid.operator_init,
                                           .init_std = config.init_std};
  const bool fixed = hybrid.generator == geometry::GeneratorKind::fixed;
  return site.add("geo", fixed ? make_fixed_generator(options) : make_data(options));
}

}  // namespace edelta::models
