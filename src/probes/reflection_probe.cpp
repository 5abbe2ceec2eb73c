#include "edelta/probes/reflection_probe.h"

#include <fmt/format.h>
#include <torch/optim/adamw.h>
#include "edelta/torch.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/random.h"
#include "base/required_fields.h"
#include "edelta/base/error.h"
#include "edelta/data/dataset.h"
#include "edelta/probes/reflection.h"

namespace edelta::probes {
namespace {

using torch::Tensor;

constexpr int64_t kLargestBatch = 32;
constexpr int64_t kValidationRows = 500;
constexpr uint64_t kValidationSeed = 42;
constexpr int64_t kStatisticsRows = 100;   // of β and γ
constexpr int64_t kTrajectoryPoints = 20;  // evaluations of a training, beside the first
constexpr double kConvergedBeta = 1.9, kConvergedGamma = 0.1;

Tensor normal_rows(int64_t dim, int64_t train, uint64_t seed, bool validation) {
  data::TaskOptions task = data::default_task_options("negation");
  task.dim = dim;
  task.train = train;
  task.val = kValidationRows;
  task.seed = seed;
  const data::Dataset dataset = data::generate(task);
  return (validation ? dataset.val_x : dataset.train_x).squeeze(1);
}

ReflectionPoint evaluate(ReflectionOperator& op, const Tensor& x, int64_t iteration) {
  const torch::NoGradGuard no_grad;
  const ReflectionOutput output = op.forward(x);
  const auto first_rows = [](const Tensor& values) {
    return values.defined() ? values.narrow(0, 0, kStatisticsRows).mean().item<double>() : 0.0;
  };
  return {.iteration = iteration,
          .alignment = torch::cosine_similarity(output.y, -x).mean().item<double>(),
          .loss = reflection_loss(x, output).item<double>(),
          .beta = first_rows(output.beta),
          .gamma = first_rows(output.gamma)};
}

// The batch of an iteration: uniform with replacement, a function of seed, size and iteration.
Tensor batch_of(const Tensor& x, uint64_t seed, int64_t iteration) {
  base::RandomStream random(seed, base::Stream::reflection_probe, static_cast<uint64_t>(iteration));
  std::vector<int64_t> rows(static_cast<size_t>(std::min(kLargestBatch, x.size(0))));
  for (int64_t& row : rows) row = random.below(static_cast<uint32_t>(x.size(0)));
  return x.index_select(0, torch::tensor(rows, torch::kInt64));
}

// The modules' default initialisation draws from the process's generator.
std::shared_ptr<ReflectionOperator> seeded_operator(const ReflectionRun& run, int64_t dim,
                                                    int64_t hidden) {
  static std::mutex generator;
  const std::lock_guard lock(generator);
  torch::manual_seed(run.seed);
  return make_reflection_operator(run.name, dim, hidden);
}

void train(ReflectionRun& run, const ReflectionProbeOptions& options, const Tensor& validation) {
  const Tensor x = normal_rows(options.dim, run.samples, run.seed, /*validation=*/false);
  const auto op = seeded_operator(run, options.dim, options.hidden);
  // torch's defaults, on all parameters: (0.9, 0.999), eps 1e-8, weight decay 0.01.
  torch::optim::AdamW optimiser(op->parameters(), torch::optim::AdamWOptions(1e-3));
  const int64_t stride = std::max<int64_t>(1, options.iterations / kTrajectoryPoints);
  run.trajectory.push_back(evaluate(*op, validation, 0));
  for (int64_t done = 1; done <= options.iterations; ++done) {
    const Tensor batch = batch_of(x, run.seed, done);
    optimiser.zero_grad();
    const ReflectionOutput output = op->forward(batch);
    Tensor loss = reflection_loss(batch, output);
    if (output.gate_weight > 0) loss = loss + reflection_gate_loss(output);
    loss.backward();
    optimiser.step();
    if (done % stride == 0 || done == options.iterations) {
      run.trajectory.push_back(evaluate(*op, validation, done));
    }
  }
}

void validate(const ReflectionProbeOptions& options) {
  const auto require = [](bool holds, const std::string& message) {
    if (!holds) throw InputError(message);
  };
  require(!options.samples.empty() && !options.seeds.empty(),
          "the reflection probe needs at least one sample size and one seed");
  for (const int64_t samples : options.samples) {
    require(samples >= 1 && samples <= 1'000'000,
            fmt::format("samples is {}; it must be from 1 to 1000000", samples));
  }
  require(options.iterations >= 1,
          fmt::format("iterations is {}; it must be at least 1", options.iterations));
  require(options.dim >= 2 && options.dim <= 1024,
          fmt::format("dim is {}; it must be from 2 to 1024", options.dim));
}

std::vector<ReflectionRun> planned(const ReflectionProbeOptions& options) {
  const auto& names = options.operators.empty() ? reflection_operator_names() : options.operators;
  std::vector<ReflectionRun> runs;
  for (const std::string& name : names) {
    const auto op = make_reflection_operator(name, options.dim, 1);  // InputError for another name
    const ReflectionOutput output = op->forward(torch::ones({1, options.dim}));
    for (const int64_t samples : options.samples) {
      for (const uint64_t seed : options.seeds) {
        runs.push_back({name, samples, seed, output.beta.defined(), output.gamma.defined(), {}});
      }
    }
  }
  return runs;
}

ReflectionRun run_from_json(const nlohmann::json& json) {
  const nlohmann::json& trajectory = base::required_entry(json, "trajectory");
  ReflectionRun run{.name = base::required<std::string>(json, "operator"),
                    .samples = base::required<int64_t>(json, "samples"),
                    .seed = base::required<uint64_t>(json, "seed"),
                    .has_beta = json.contains("beta"),
                    .has_gamma = json.contains("gamma"),
                    .trajectory = {}};
  for (const nlohmann::json& iteration : base::required_list(trajectory, "iteration")) {
    json_fields::read("iteration", iteration, run.trajectory.emplace_back().iteration);
  }
  if (run.trajectory.empty()) throw InputError("trajectory is empty");
  const auto read = [&](const char* key, double ReflectionPoint::* member) {
    const std::vector<double> values = base::required_numbers(trajectory, key);
    if (values.size() != run.trajectory.size()) {
      throw InputError(fmt::format("trajectory: {} must be as long as iteration", key));
    }
    for (size_t i = 0; i < values.size(); ++i) run.trajectory[i].*member = values[i];
  };
  read("alignment", &ReflectionPoint::alignment);
  read("loss", &ReflectionPoint::loss);
  if (run.has_beta) read("beta", &ReflectionPoint::beta);
  if (run.has_gamma) read("gamma", &ReflectionPoint::gamma);
  return run;
}

}  // namespace

bool ReflectionRun::converged() const {
  if (has_gamma) return final().gamma < kConvergedGamma;
  return has_beta && final().beta > kConvergedBeta;
}

std::vector<ReflectionRun> probe_reflection(const ReflectionProbeOptions& options) {
  validate(options);
  std::vector<ReflectionRun> runs = planned(options);
  const Tensor validation =
      normal_rows(options.dim, 1, kValidationSeed, /*validation=*/true).contiguous();
  const int threads_before = at::get_num_threads();
  at::set_num_threads(1);
  std::atomic<size_t> next = 0;
  std::mutex reporting;
  int64_t done = 0;
  std::exception_ptr failure;
  const auto work = [&] {
    at::set_num_threads(1);
    for (size_t i = next++; i < runs.size(); i = next++) {
      try {
        train(runs[i], options, validation);
      } catch (...) {
        const std::lock_guard lock(reporting);
        failure = std::current_exception();
        next = runs.size();
      }
      const std::lock_guard lock(reporting);
      if (options.on_progress) options.on_progress(++done, static_cast<int64_t>(runs.size()));
    }
  };
  std::vector<std::thread> workers;
  for (int64_t i = 1; i < options.workers; ++i) workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  at::set_num_threads(threads_before);
  if (failure) std::rethrow_exception(failure);
  return runs;
}

nlohmann::ordered_json to_json(const std::vector<ReflectionRun>& runs,
                               const ReflectionProbeOptions& options) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ReflectionRun& run : runs) {
    nlohmann::ordered_json trajectory{{"iteration", nlohmann::ordered_json::array()}};
    for (const ReflectionPoint& point : run.trajectory) {
      trajectory["iteration"].push_back(point.iteration);
      trajectory["alignment"].push_back(point.alignment);
      trajectory["loss"].push_back(point.loss);
      if (run.has_beta) trajectory["beta"].push_back(point.beta);
      if (run.has_gamma) trajectory["gamma"].push_back(point.gamma);
    }
    const ReflectionPoint& last = run.final();
    nlohmann::ordered_json entry{{"operator", run.name},
                                 {"samples", run.samples},
                                 {"seed", run.seed},
                                 {"alignment", last.alignment},
                                 {"loss", last.loss}};
    if (run.has_beta) entry["beta"] = last.beta;
    if (run.has_gamma) entry["gamma"] = last.gamma;
    if (run.has_beta || run.has_gamma) entry["converged"] = run.converged();
    entry["trajectory"] = trajectory;
    list.push_back(entry);
  }
  return {{"dim", options.dim},
          {"hidden", options.hidden},
          {"iterations", options.iterations},
          {"runs", list}};
}

std::vector<ReflectionRun> reflection_runs_from_json(const nlohmann::json& json,
                                                     const std::string& source) {
  std::vector<ReflectionRun> runs;
  with_source(source, [&] {
    for (const nlohmann::json& run : base::required_list(json, "runs")) {
      runs.push_back(run_from_json(run));
    }
  });
  return runs;
}

}  // namespace edelta::probes
