#include "bench/bench.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "bench/fastest.h"
#include "bench/puzzle_models.h"
#include "bench/subject.h"
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

class TransformerSubject : public Subject {
 public:
  TransformerSubject(const models::ModelConfig& config, const BenchOptions& options)
      : model_(models::make_model(config)),
        optimiser_(*model_, train::Protocol()),
        recompute_(options.recompute) {
    torch::manual_seed(1);
    if (config.head == models::Head::token) {
      x_ = torch::randint(config.vocab_size, {options.batch, options.length}, torch::kInt64);
      y_ = torch::randint_like(x_, config.vocab_size);
    } else {
      x_ = torch::randn({options.batch, options.length, config.input_dim});
      y_ = torch::randn_like(x_);
    }
  }

  void step(const std::function<void(train::StepPhase)>& after) override {
    const train::StepOptions options{.after = after};
    const auto batch_of = [&](int64_t) {
      models::Batch batch{x_, y_};
      batch.recompute = recompute_;
      return batch;
    };
    models::State state;
    const train::StepOutcome outcome =
        compute_gradients(*model_, optimiser_, state, batch_of, options);
    update(optimiser_, 1e-4, outcome, options);
  }

  void clear_gradients() override { optimiser_.zero_gradients(); }

  void infer() override {
    const torch::NoGradGuard no_grad;
    model_->eval();
    model_->predict(x_);
  }

  int64_t tokens() const override { return x_.size(0) * x_.size(1); }
  double gflop() const override { return model_->step_gflop(x_.size(0), x_.size(1)); }

 private:
  std::shared_ptr<models::Model> model_;
  train::AdamW optimiser_;
  bool recompute_;
  Tensor x_, y_;
};

// Runs a step and keeps the fastest time of each phase in `best`.
void time_step(Subject& subject, ops::Implementation implementation, StepTimes& best) {
  ops::set_implementation(implementation);
  subject.clear_gradients();
  auto start = Clock::now();
  subject.step([&](train::StepPhase phase) {
    double& kept = phase == train::StepPhase::forward    ? best.forward
                   : phase == train::StepPhase::backward ? best.backward
                                                         : best.optimiser;
    keep_fastest(kept, since(start));
    start = Clock::now();
  });
}

void time_inference(Subject& subject, ops::Implementation implementation, StepTimes& best) {
  ops::set_implementation(implementation);
  const auto start = Clock::now();
  subject.infer();
  best.inference = std::max(best.inference, static_cast<double>(subject.tokens()) / since(start));
}

// The process's memory at its peak over some steps, with nothing left of what came before; these
// first steps also warm up.
StepMemory step_memory(Subject& subject, ops::Implementation implementation) {
  subject.clear_gradients();
  base::release_tensor_memory();
  StepMemory memory;
  int64_t early = 0;
  constexpr int kSteps = 3;
  for (int i = 0; i < kSteps; ++i) {
    const bool known = base::reset_peak_resident_memory();
    StepTimes times;
    time_step(subject, implementation, times);
    const int64_t peak = known ? base::peak_resident_memory().value_or(0) : 0;
    if (i == 1) early = peak;
    memory.peak = std::max(memory.peak, peak);
    memory.growth = peak - early;
  }
  subject.clear_gradients();
  base::release_tensor_memory();
  return memory;
}

// A fused step with the time of each kernel; kept where the step is the fastest so far.
void profile_step(Subject& subject, std::vector<Phase>& phases, double& fastest) {
  StepTimes times;
  kernels::start_profile();
  time_step(subject, ops::Implementation::fused, times);
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

// `dropping_subject` is asked after the memory was measured, of which it would be a part; it may
// give none.
ModelBench measure(const std::string& name, Subject& subject, const BenchOptions& options,
                   const std::function<std::unique_ptr<Subject>()>& dropping_subject) {
  using ops::Implementation;
  const Implementation chosen = ops::implementation();
  ModelBench bench;
  bench.model = name;
  bench.tokens = subject.tokens();
  bench.gflop = subject.gflop();
  if (options.compare) bench.composite_memory = step_memory(subject, Implementation::composite);
  bench.fused_memory = step_memory(subject, Implementation::fused);
  const std::unique_ptr<Subject> dropping = dropping_subject();
  double fastest_profiled = 0;
  for (int64_t i = 0; i < options.repetitions; ++i) {
    bench.peak_gflops = std::max(bench.peak_gflops, base::measure_fma_peak(0.1));
    time_step(subject, Implementation::fused, bench.fused);
    time_inference(subject, Implementation::fused, bench.fused);
    if (options.compare) {
      if (!bench.composite) bench.composite.emplace();
      time_step(subject, Implementation::composite, *bench.composite);
      time_inference(subject, Implementation::composite, *bench.composite);
    }
    if (dropping) {
      if (!bench.dropping) bench.dropping.emplace();
      time_step(*dropping, Implementation::fused, *bench.dropping);
      time_step(*dropping, Implementation::fused, *bench.dropping);
    }
    time_step(subject, Implementation::fused, bench.fused);
    profile_step(subject, bench.phases, fastest_profiled);
  }
  ops::set_implementation(chosen);
  return bench;
}

}  // namespace

ModelBench bench_model(const models::ModelConfig& config, const BenchOptions& options) {
  TransformerSubject subject(config, options);
  return measure(config.model, subject, options, [&]() -> std::unique_ptr<Subject> {
    if (options.dropout == 0) return nullptr;
    models::ModelConfig dropped = config;
    dropped.dropout = options.dropout;
    return std::make_unique<TransformerSubject>(dropped, options);
  });
}

ModelBench bench_puzzle_model(const std::string& name, const models::RecursiveConfig& config,
                              const BenchOptions& options) {
  const std::unique_ptr<Subject> subject = make_puzzle_subject(config, options.batch);
  return measure(name, *subject, options, [] { return nullptr; });
}

models::ModelConfig matched_config(const std::string& model, const BenchOptions& options) {
  models::ModelConfig config = models::matched_config(model);
  if (options.layers > 0) config.n_layer = options.layers;
  if (options.width > 0) config.n_embd = options.width;
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
