#include "bench/bench.h"

#include <algorithm>
#include <chrono>

#include "edelta/base/machine.h"
#include "edelta/base/memory.h"
#include "edelta/models/architecture_options.h"
#include "edelta/models/model.h"
#include "edelta/models/registry.h"
#include "edelta/train/optimiser.h"
#include "edelta/train/step.h"
#include "kernels/profile.h"

namespace edelta::bench {
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
      : model_(models::make_model(config)), optimiser_(*model_, train::Protocol()) {
    torch::manual_seed(1);
    if (config.head == models::Head::token) {
      x_ = torch::randint(config.vocab_size, {options.batch, options.length}, torch::kInt64);
      y_ = torch::randint_like(x_, config.vocab_size);
    } else {
      x_ = torch::randn({options.batch, options.length, config.input_dim});
      y_ = torch::randn_like(x_);
    }
  }

  // Runs a step and keeps the fastest time of each phase in `best`.
  void step(ops::Implementation implementation, StepTimes& best) {
    ops::set_implementation(implementation);
    optimiser_.zero_gradients();
    auto start = Clock::now();
    const train::StepOptions options{.after = [&](train::StepPhase phase) {
      double& kept = phase == train::StepPhase::forward    ? best.forward
                     : phase == train::StepPhase::backward ? best.backward
                                                           : best.optimiser;
      keep_fastest(kept, since(start));
      start = Clock::now();
    }};
    const auto batch_of = [&](int64_t) { return models::Batch{x_, y_}; };
    models::State state;
    const train::StepOutcome outcome =
        compute_gradients(*model_, optimiser_, state, batch_of, options);
    update(optimiser_, 1e-4, outcome, options);
  }

  // The process's memory at its peak over some steps, with nothing left of what came before; these
  // first steps also warm up.
  StepMemory memory(ops::Implementation implementation) {
    optimiser_.zero_gradients();
    base::release_tensor_memory();
    StepMemory memory;
    int64_t early = 0;
    constexpr int kSteps = 3;
    for (int i = 0; i < kSteps; ++i) {
      const bool known = base::reset_peak_resident_memory();
      StepTimes times;
      step(implementation, times);
      const int64_t peak = known ? base::peak_resident_memory().value_or(0) : 0;
      if (i == 1) early = peak;
      memory.peak = std::max(memory.peak, peak);
      memory.growth = peak - early;
    }
    optimiser_.zero_gradients();
    base::release_tensor_memory();
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

  double gflop(const BenchOptions& options) const {
    return model_->step_gflop(options.batch, options.length);
  }

  void infer(ops::Implementation implementation, StepTimes& best) {
    ops::set_implementation(implementation);
    const torch::NoGradGuard no_grad;
    model_->eval();
    const auto start = Clock::now();
    model_->predict(x_);
    const auto tokens = static_cast<double>(x_.size(0) * x_.size(1));
    best.inference = std::max(best.inference, tokens / since(start));
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

ModelBench bench_model(const models::ModelConfig& config, const BenchOptions& options) {
  using ops::Implementation;
  const Implementation chosen = ops::implementation();
  Subject subject(config, options);
  ModelBench bench;
  bench.model = config.model;
  bench.tokens = options.batch * options.length;
  bench.gflop = subject.gflop(options);
  if (options.compare) bench.composite_memory = subject.memory(Implementation::composite);
  bench.fused_memory = subject.memory(Implementation::fused);
  // After the memory was measured, of which it would be a part.
  std::optional<Subject> dropping;
  if (options.dropout > 0) {
    models::ModelConfig dropped = config;
    dropped.dropout = options.dropout;
    dropping.emplace(dropped, options);
  }
  double fastest_profiled = 0;
  for (int64_t i = 0; i < options.repetitions; ++i) {
    bench.peak_gflops = std::max(bench.peak_gflops, base::measure_fma_peak(0.1));
    subject.step(Implementation::fused, bench.fused);
    subject.infer(Implementation::fused, bench.fused);
    if (options.compare) {
      if (!bench.composite) bench.composite.emplace();
      subject.step(Implementation::composite, *bench.composite);
      subject.infer(Implementation::composite, *bench.composite);
    }
    if (dropping) {
      if (!bench.dropping) bench.dropping.emplace();
      dropping->step(Implementation::fused, *bench.dropping);
      dropping->step(Implementation::fused, *bench.dropping);
    }
    subject.step(Implementation::fused, bench.fused);
    subject.profile(bench.phases, fastest_profiled);
  }
  ops::set_implementation(chosen);
  return bench;
}

models::ModelConfig matched_config(const std::string& model, const BenchOptions& options,
                                   int64_t width) {
  models::ModelConfig config = models::matched_config(model);
  if (width > 0) config.n_embd = width;
  config.input_dim = options.input_dim;
  if (options.vocabulary > 0) {
    config.head = models::Head::token;
    config.vocab_size = options.vocabulary;
    config.options.get<models::PoolOptions>().pool = ops::Pool::prefix;
  }
  config.block_size = std::max(config.block_size, options.length);
  validate(config);
  return config;
}

BenchReport bench_models(const std::vector<models::ModelConfig>& configs,
                         const BenchOptions& options,
                         const std::function<void(const std::string& model)>& on_model) {
  BenchReport report{.batch = options.batch, .length = options.length, .results = {}};
  for (const models::ModelConfig& config : configs) {
    if (on_model) on_model(config.model);
    report.results.push_back(bench_model(config, options));
  }
  report.gemm_gflops = base::measure_gemm();
  return report;
}

}  // namespace edelta::bench
