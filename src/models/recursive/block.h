// A block of the recursive model (specification 13.2).
#pragma once

#include "edelta/torch.h"

#include <memory>
#include <vector>

#include "edelta/models/recursive_config.h"
#include "models/recursive/mixers.h"
#include "models/recursive/sublayers.h"

namespace edelta::models {

// What the last call of a level leaves behind.
struct LevelSeen {
  std::vector<torch::Tensor> gates;  // γ of each mixer, attention's before the MLP's
  torch::Tensor gate_loss;           // Σ over mixers of weight · mean 4γ(1 − γ); undefined: none
};

// Norms come after the sub-layers; where the model has mixers, there is one for each of them.
class RecursiveBlock : public torch::nn::Module {
 public:
  explicit RecursiveBlock(const RecursiveConfig& config);
  torch::Tensor forward(const torch::Tensor& x, const ops::RotaryTables& rotary, LevelSeen& seen);
  void initialise(at::Generator& generator);

 private:
  torch::Tensor normalise(const torch::Tensor& x) const;
  torch::Tensor mix(StreamMixer& mixer, const torch::Tensor& x, const StreamSubLayer& f,
                    LevelSeen& seen) const;

  RecursiveConfig config_;
  std::shared_ptr<WholeAttention> attention_;
  std::shared_ptr<SwiGlu> mlp_t_, mlp_;
  std::shared_ptr<StreamMixer> attention_mixer_, mlp_mixer_;
};

}  // namespace edelta::models
