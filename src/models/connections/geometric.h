// The residual operator G_γ of both EΔ models: pool, generate, blend, mix.
#pragma once

#include <memory>

#include "edelta/geometry/hybrid.h"
#include "edelta/models/architecture_options.h"
#include "edelta/models/connection.h"

namespace edelta::models {

class GeometricResidual {
 public:
  GeometricResidual(const ModelConfig& config, std::shared_ptr<geometry::Generator> generator)
      : branch_(config.options.get<HybridOptions>().branch),
        blend_(config.options.get<HybridOptions>().blend),
        pool_(config.options.get<PoolOptions>().pool),
        generator_(std::move(generator)) {}

  // G_γ(x), with the gate and, if asked for, the operator left in `seen`.
  torch::Tensor operator()(const torch::Tensor& x, Seen& seen) const;

  void initialise() { generator_->initialise(); }

  double weights_per_token(int64_t length) const {
    return matrix_entries(*generator_) * ops::pooled_per_token(pool_, length);
  }

 private:
  geometry::Branch branch_;
  geometry::Blend blend_;
  ops::Pool pool_;
  std::shared_ptr<geometry::Generator> generator_;
};

// The generator that the configuration asks for, with `make_data` for a data-dependent one.
std::shared_ptr<geometry::Generator> make_generator(
    const ModelConfig& config, int64_t hidden,
    std::shared_ptr<geometry::Generator> (*make_data)(const geometry::GeneratorOptions&));

}  // namespace edelta::models
