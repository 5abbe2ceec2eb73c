// The residual operator G_γ of both EΔ models: pool, generate, blend, mix.
#pragma once

#include <memory>
#include <optional>

#include "edelta/geometry/hybrid.h"
#include "edelta/models/architecture_options.h"
#include "edelta/models/connection.h"
#include "models/connections/geometric_decoding.h"

namespace edelta::models {

class GeometricResidual {
 public:
  GeometricResidual(const ModelConfig& config, std::shared_ptr<geometry::Generator> generator)
      : branch_(config.options.get<HybridOptions>().branch),
        blend_(config.options.get<HybridOptions>().blend),
        field_(config.options.get<HybridOptions>().field),
        pool_(config.options.get<PoolOptions>().pool),
        n_(config.n_streams),
        width_(config.n_embd),
        generator_(std::move(generator)) {}

  // G_γ(x), with the gate and, if asked for, the operator left in `seen`; x itself without an
  // operator.
  torch::Tensor operator()(const torch::Tensor& x, Seen& seen) const;
  // The same for decoding; nothing without an operator.
  std::optional<GeometricDecoding> decoding(const nn::DecodingRoom& room) const;

  std::vector<torch::Tensor> tables() const {
    return generator_ ? generator_->tables() : std::vector<torch::Tensor>();
  }
  void initialise() {
    if (generator_) generator_->initialise();
  }
  double weights_per_token(int64_t length) const {
    if (!generator_) return 0;
    return matrix_entries(*generator_) * ops::pooled_per_token(pool_, length);
  }

 private:
  geometry::Branch branch_;
  geometry::Blend blend_;
  geometry::ScalarField field_;
  ops::Pool pool_;
  int64_t n_, width_;
  std::shared_ptr<geometry::Generator> generator_;  // null: there is no operator
};

// The generator that the configuration asks for, registered at the site, with `make_data` for a
// data-dependent one; null for branch none.
std::shared_ptr<geometry::Generator> make_generator(
    const ModelConfig& config, Site& site, int64_t hidden,
    std::shared_ptr<geometry::Generator> (*make_data)(const geometry::GeneratorOptions&));

}  // namespace edelta::models
