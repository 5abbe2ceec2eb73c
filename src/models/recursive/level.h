// The stack of blocks that a recursive model applies over and over (specification 13.2).
#pragma once

#include "edelta/torch.h"

#include <memory>
#include <vector>

#include "models/recursive/block.h"

namespace edelta::models {

class Level : public torch::nn::Module {
 public:
  Level(const RecursiveConfig& config, int64_t layers);
  // `rotary` may be undefined. `seen` is of this call alone.
  torch::Tensor forward(const torch::Tensor& x, const ops::RotaryTables& rotary, LevelSeen& seen);
  void initialise(at::Generator& generator);

 private:
  std::vector<std::shared_ptr<RecursiveBlock>> layers_;
};

}  // namespace edelta::models
