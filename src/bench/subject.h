// What a benchmark steps: a model with its data and its optimiser.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "bench/bench.h"
#include "edelta/models/recursive_config.h"
#include "edelta/train/step.h"

namespace edelta::bench {

class Subject {
 public:
  virtual ~Subject() = default;
  // One training step; `after` is called when a phase of it has ended.
  virtual void step(const std::function<void(train::StepPhase)>& after) = 0;
  virtual void clear_gradients() = 0;
  // A pass without a backward pass to come.
  virtual void infer() = 0;
  virtual int64_t tokens() const = 0;  // of a step
  virtual double gflop() const = 0;    // of a step, algorithmic
};

std::unique_ptr<Subject> make_puzzle_subject(const models::RecursiveConfig& config, int64_t batch);

}  // namespace edelta::bench
