#include "edelta/experiments/bench.h"

#include <algorithm>
#include <chrono>

#include "edelta/kernels/profile.h"
#include "edelta/models/model.h"
#include "edelta/models/registry.h"
#include "edelta/ops/machine.h"
#include "edelta/ops/memory.h"
#include "edelta/train/optimiser.h"

namespace edelta::experiments {
namespace {

using torch::Tensor;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// One model with its data, stepped by either implementation.
class Subject {
 public:
  Subject(const models::ModelConfig& config, const BenchOptions& options)
      : model_(std::make_shared<models::Model>(config)), optimiser_(*model_, train::Protocol()) {
    torch::manual_seed(1);
    x_ = torch::randn({options.batch, options.length, config.input_dim});
    y_ = torch::randn_like(x_);
  }

  // Runs a step and keeps the fastest time of each phase in `best`.
  void step(ops::Implementation implementation, StepTimes& best) {
    ops::set_implementation(implementation);
    optimiser_.zero_gradients();
    model_->train();
    auto start = Clock::now();
    models::Pass pass;
    const Tensor loss = model_->loss(model_->forward(x_, pass), y_) + model_->gate_loss(pass);
    keep_fastest(best.forward, since(start));
    start = Clock::now();
    loss.backward();
    keep_fastest(best.backward, since(start));
    start = Clock::now();
    optimiser_.step(1e-4, optimiser_.gradient_norm());
    keep_fastest(best.optimiser, since(start));
  }

  // The process's memory at its peak over some steps, with nothing left of what came before; these
  // first steps also warm up.
  StepMemory memory(ops::Implementation implementation) {
    optimiser_.zero_gradients();
    ops::release_tensor_memory();
    StepMemory memory;
    int64_t early = 0;
    constexpr int kSteps = 3;
    for (int i = 0; i < kSteps; ++i) {
      const bool known = ops::reset_peak_resident_memory();
      StepTimes times;
      step(implementation, times);
      const int64_t peak = known ? ops::peak_resident_memory().value_or(0) : 0;
      if (i == 1) early = peak;
      memory.peak = std::max(memory.peak, peak);
      memory.growth = peak - early;
    }
    optimiser_.zero_gradients();
    ops::release_tensor_memory();
    return memory;
  }

  // A fused step with the time of each kernel; kept where the step is the fastest so far.
  void profile(std::vector<Phase>& phases, double& fastest) {
    StepTimes times;
    kernels::start_profile();
    step(ops::Implementation::fused, times);
    const std::vector<kernels::KernelTime> kernels = kernels::stop_profile();
    if (fastest > 0 && times.step() >= fastest) return;
    fastest = times.step();
    phases.clear();
    double rest = fastest;
    for (const auto& kernel : kernels) {
      phases.push_back({kernel.name, kernel.calls, kernel.seconds});
      rest -= kernel.seconds;
    }
    phases.push_back({"between kernels", 0, rest});
    std::sort(phases.begin(), phases.end(),
              [](const Phase& a, const Phase& b) { return a.seconds > b.seconds; });
  }

  void infer(ops::Implementation implementation, StepTimes& best) {
    ops::set_implementation(implementation);
    const torch::NoGradGuard no_grad;
    model_->eval();
    const auto start = Clock::now();
    model_->forward(x_);
    keep_fastest(best.inference, since(start));
  }

 private:
  static void keep_fastest(double& best, double seconds) {
    best = best == 0 ? seconds : std::min(best, seconds);
  }

  std::shared_ptr<models::Model> model_;
  train::AdamW optimiser_;
  Tensor x_, y_;
};

}  // namespace

double step_gflop(const models::ModelConfig& config, int64_t batch, int64_t length) {
  const auto model = std::make_shared<models::Model>(config);
  double weights = 0;
  for (const auto& item : model->named_parameters()) {
    const std::string& name = item.key();
    const bool folded =
        name.find("h_pre_") != std::string::npos || name.find("h_post_") != std::string::npos;
    // With one operator a sequence, its generator runs once for all the sequence's tokens.
    const bool generator =
        name.find(".geo_") != std::string::npos || name.find(".delta_") != std::string::npos;
    const bool embedding = name == "pos_emb" || name.find(".wpe.") != std::string::npos;
    if (item.value().dim() < 2 || folded || embedding || name.find(".b_res") != std::string::npos) {
      continue;
    }
    const double share =
        generator && config.pool == ops::Pool::sequence ? 1 / static_cast<double>(length) : 1.0;
    weights += share * static_cast<double>(item.value().numel());
  }
  const bool narrow =
      models::find_architecture(config.model).branch_width == models::BranchWidth::stream;
  const double width = static_cast<double>(narrow ? config.stream_width() : config.n_embd);
  const double attention =
      3.5 * 2 * static_cast<double>(length) * width * static_cast<double>(config.n_layer);
  return 1e-9 * static_cast<double>(batch * length) * (6 * weights + attention);
}

ModelBench bench_model(const models::ModelConfig& config, const BenchOptions& options) {
  using ops::Implementation;
  const Implementation chosen = ops::implementation();
  Subject subject(config, options);
  ModelBench bench;
  bench.model = config.model;
  bench.tokens = options.batch * options.length;
  bench.gflop = step_gflop(config, options.batch, options.length);
  if (options.compare) bench.composite_memory = subject.memory(Implementation::composite);
  bench.fused_memory = subject.memory(Implementation::fused);
  double fastest_profiled = 0;
  for (int64_t i = 0; i < options.repetitions; ++i) {
    bench.peak_gflops = std::max(bench.peak_gflops, ops::measure_fma_peak(0.1));
    subject.step(Implementation::fused, bench.fused);
    subject.infer(Implementation::fused, bench.fused);
    if (options.compare) {
      subject.step(Implementation::composite, bench.composite);
      subject.infer(Implementation::composite, bench.composite);
    }
    subject.step(Implementation::fused, bench.fused);
    subject.profile(bench.phases, fastest_profiled);
  }
  ops::set_implementation(chosen);
  return bench;
}

}  // namespace edelta::experiments
