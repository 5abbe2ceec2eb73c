// The maps H_pre and H_post around a sub-layer, as the configuration has them.
#pragma once

#include <vector>

#include "edelta/models/architecture_options.h"
#include "edelta/models/connection.h"

namespace edelta::models {

class ProjectionMaps {
 public:
  // `usually`: what the architecture itself has.
  ProjectionMaps(const ModelConfig& config, Site& site, Projections usually);

  // [D, D]; undefined where there is no such map.
  torch::Tensor pre() const { return product(pre_); }
  torch::Tensor post() const { return product(post_); }

  void initialise();

 private:
  // The product of its factors, the first one applied first.
  using Map = std::vector<torch::nn::Linear>;
  static torch::Tensor product(const Map& map);

  ProjectionInit init_;
  Map pre_, post_;
};

}  // namespace edelta::models
