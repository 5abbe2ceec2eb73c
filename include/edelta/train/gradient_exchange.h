// The gradients of a step that is divided: into parts, over ranks, or both.
#pragma once

#include "edelta/torch.h"

#include <cstdint>
#include <memory>

#include "edelta/dist/ranks.h"
#include "edelta/train/config.h"

namespace edelta::train {

// In which order the gradients of the parts are added up.
enum class Summation {
  running,  // one after the other at every rank, then over the ranks: fast
  tree      // in a balanced tree of all parts, which is the same for any number of ranks
};

// What a rank does of a step.
struct Division {
  int64_t first = 0, count = 1;  // its parts
  bool rows = false;             // of every part only its rows, as many as any other rank's
};

// InputError that names the numbers where batches of so many rows, so many a step, cannot be
// divided equally.
void require_divisible(int64_t rows, int64_t parts, int64_t ranks, Summation summation);
// The same for a run.
void require_divisible(const TrainConfig& config, int64_t ranks, Summation summation);

// Adds up what backward passes leave in the parameters of a model. The gradients of all parameters
// go through one flat buffer, bucket by bucket; the buckets whose gradients the last backward pass
// has finished are exchanged while it is still busy with the rest.
class GradientExchange {
 public:
  GradientExchange(torch::nn::Module& model, dist::Ranks& ranks,
                   Summation summation = Summation::running);
  ~GradientExchange();
  GradientExchange(const GradientExchange&) = delete;
  GradientExchange& operator=(const GradientExchange&) = delete;

  dist::Ranks& ranks() const;
  Division division(int64_t parts) const;

  // A step begins: nothing of an earlier one that was given up is left.
  void start();
  // Around every backward pass of this rank's parts.
  void before_backward(bool last);
  void after_backward();
  // Afterwards every rank has the sum in the parameters' gradients.
  void finish();

 private:
  struct Buffers;
  std::shared_ptr<Buffers> buffers_;
};

}  // namespace edelta::train
