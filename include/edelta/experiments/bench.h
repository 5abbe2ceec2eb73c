// How fast a training step is, against the machine's limit and against plain libtorch.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "edelta/models/config.h"
#include "edelta/ops/dispatch.h"

namespace edelta::experiments {

// Seconds, each the fastest of all repetitions: the machine is shared, and noise only adds.
struct StepTimes {
  double forward = 0;
  double backward = 0;
  double optimiser = 0;  // norm, clip and AdamW
  double inference = 0;  // forward without a backward pass to come
  double step() const { return forward + backward + optimiser; }
};

// Where a fused step's time goes: its kernels, and what is left for everything between them
// (libtorch's own ops, autograd, waiting for memory).
struct Phase {
  std::string name;
  int64_t calls = 0;  // of a step
  double seconds = 0;
};

// Resident memory of the whole process, in bytes, at its peak during a step; 0 where the system does
// not tell.
struct StepMemory {
  int64_t peak = 0;
  int64_t growth = 0;  // of the peak, from the second step to the last
};

struct ModelBench {
  std::string model;
  int64_t tokens = 0;  // of a step
  double gflop = 0;    // algorithmic, of a step
  StepTimes fused;
  StepTimes composite;
  StepMemory fused_memory;
  StepMemory composite_memory;
  std::vector<Phase> phases;  // of the fastest fused step, longest first
  double peak_gflops = 0;  // FMA, measured between the repetitions

  double speedup() const { return composite.step() / fused.step(); }
  double share_of_peak() const { return gflop / fused.step() / peak_gflops; }
};

struct BenchOptions {
  int64_t batch = 64;
  int64_t length = 255;
  int64_t repetitions = 5;
  bool compare = true;  // also time the composite version, interleaved
};

// Algorithmic FLOPs of one training step: 6 a token for every weight of a linear layer, with H_pre
// and H_post folded into their neighbours, and causal attention at 3.5 times its forward cost of
// 2·T·D a token and layer (half the square).
double step_gflop(const models::ModelConfig& config, int64_t batch, int64_t length);

ModelBench bench_model(const models::ModelConfig& config, const BenchOptions& options);

}  // namespace edelta::experiments
