// How fast a training step is, against the machine's limit and against plain libtorch.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "edelta/models/config.h"
#include "edelta/ops/implementation.h"

namespace edelta::bench {

// Each of the fastest of all repetitions: the machine is shared, and noise only adds.
struct StepTimes {
  double forward = 0;    // seconds
  double backward = 0;   // seconds
  double optimiser = 0;  // seconds: norm, clip and AdamW
  double inference = 0;  // tokens a second, without a backward pass to come
  double step() const { return forward + backward + optimiser; }
};

// Where a fused step's time goes: its kernels, and what is left for everything between them
// (libtorch's own ops, autograd, waiting for memory).
struct Phase {
  std::string name;
  int64_t calls = 0;  // of a step
  double seconds = 0;
};

// Resident memory of the whole process, in bytes, at its peak during a step; 0 where the system
// does not tell.
struct StepMemory {
  int64_t peak = 0;
  int64_t growth = 0;  // of the peak, from the second step to the last
};

struct ModelBench {
  std::string model;
  int64_t tokens = 0;  // of a step
  double gflop = 0;    // algorithmic, of a step
  StepTimes fused;
  std::optional<StepTimes> composite;  // where it was compared
  std::optional<StepTimes> dropping;   // fused with dropout, where it was asked for
  StepMemory fused_memory;
  StepMemory composite_memory;
  std::vector<Phase> phases;  // of the fastest fused step, longest first
  double peak_gflops = 0;     // FMA, measured between the repetitions

  double speedup() const { return composite->step() / fused.step(); }
  double dropout_cost() const { return dropping->step() / fused.step() - 1; }
  double share_of_peak() const { return gflop / fused.step() / peak_gflops; }
};

struct BenchOptions {
  int64_t batch = 64;
  int64_t length = 255;
  int64_t input_dim = 16;
  int64_t layers = 0, width = 0;  // 0: those of the matched configuration
  int64_t vocabulary = 0;         // of token models; 0: models on vectors
  int64_t repetitions = 5;
  bool compare = true;     // also time the composite version, interleaved
  bool recompute = false;  // models::Batch
  double dropout = 0;      // above 0: also time fused steps with this dropout, interleaved
};

ModelBench bench_model(const models::ModelConfig& config, const BenchOptions& options);

// An architecture's matched configuration in the options' sizes, with room for their sequences.
models::ModelConfig matched_config(const std::string& model, const BenchOptions& options);

// Several models on one machine.
struct BenchReport {
  int64_t batch = 0, length = 0;
  double gemm_gflops = 0;  // of a large matrix product by libtorch
  std::vector<ModelBench> results;
};
// `on_model` is told each model before it is measured.
BenchReport bench_models(const std::vector<models::ModelConfig>& configs,
                         const BenchOptions& options,
                         const std::function<void(const std::string& model)>& on_model = {});

// With a description of this machine.
nlohmann::ordered_json to_json(const BenchReport& report);
// InputError that names `source` and the key. Phases and memory, which early versions did not
// measure, may be absent.
BenchReport bench_report_from_json(const nlohmann::json& json, const std::string& source);

}  // namespace edelta::bench
