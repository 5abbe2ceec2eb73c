#include "bench/rank_bench.h"

#include <algorithm>
#include <chrono>

#include "base/required_fields.h"
#include "edelta/base/machine.h"
#include "edelta/models/model.h"
#include "edelta/train/step.h"

namespace edelta::bench {
namespace {

using Seconds = std::chrono::duration<double>;
using SteadyClock = std::chrono::steady_clock;
using torch::Tensor;

// Ranks that know how long they have been waited for.
class TimedRanks : public dist::Ranks {
 public:
  explicit TimedRanks(dist::Ranks& ranks) : ranks_(ranks) {}

  double waited() const { return waited_; }
  void reset() { waited_ = 0; }

  int64_t rank() const override { return ranks_.rank(); }
  int64_t count() const override { return ranks_.count(); }
  std::string name_of(int64_t rank) const override { return ranks_.name_of(rank); }
  void leave(const std::string& reason) override { ranks_.leave(reason); }
  std::unique_ptr<dist::Pending> begin_sum(const Tensor& tensor) override {
    return std::make_unique<TimedPending>(*this, ranks_.begin_sum(tensor));
  }
  void tree_sum(const Tensor& tensor) override {
    timed([&] { ranks_.tree_sum(tensor); });
  }
  void broadcast(const Tensor& tensor) override {
    timed([&] { ranks_.broadcast(tensor); });
  }

 private:
  class TimedPending : public dist::Pending {
   public:
    TimedPending(TimedRanks& ranks, std::unique_ptr<dist::Pending> pending)
        : ranks_(ranks), pending_(std::move(pending)) {}
    void wait() override {
      ranks_.timed([&] { pending_->wait(); });
    }

   private:
    TimedRanks& ranks_;
    std::unique_ptr<dist::Pending> pending_;
  };

  template <class Work>
  void timed(const Work& work) {
    const auto start = SteadyClock::now();
    work();
    waited_ += Seconds(SteadyClock::now() - start).count();
  }

  dist::Ranks& ranks_;
  double waited_ = 0;
};

models::Batch random_batch(const models::ModelConfig& config, const BenchOptions& options) {
  at::Generator generator = at::detail::createCPUGenerator(1);
  if (config.head == models::Head::token) {
    const Tensor x = torch::randint(config.vocab_size, {options.batch, options.length}, generator,
                                    torch::kInt64);
    return {x, x.flip(1)};
  }
  const std::vector<int64_t> shape{options.batch, options.length, config.input_dim};
  return {torch::randn(shape, generator), torch::randn(shape, generator)};
}

double exchange_alone(dist::Ranks& ranks, int64_t floats, int64_t repetitions) {
  const Tensor buffer = torch::zeros({floats});
  double fastest = 0;
  for (int64_t i = 0; i < repetitions + 1; ++i) {
    dist::largest(ranks, 0);  // all begin together
    const auto start = SteadyClock::now();
    ranks.sum(buffer);
    const double seconds = Seconds(SteadyClock::now() - start).count();
    fastest = fastest == 0 ? seconds : std::min(fastest, seconds);
  }
  return fastest;
}

}  // namespace

RankTimes bench_ranks(const models::ModelConfig& config, const BenchOptions& options,
                      dist::Ranks& ranks) {
  const auto model = models::make_model(config);
  train::AdamW optimiser(*model, train::Protocol());
  TimedRanks timed(ranks);
  train::GradientExchange exchange(*model, timed);
  train::require_divisible(options.batch, 1, ranks.count(), train::Summation::running);
  const models::Batch batch = random_batch(config, options);
  const train::StepOptions step{
      .parts = 1, .minimises = {}, .after = {}, .gives_up = {}, .exchange = &exchange};
  RankTimes times{.model = config.model,
                  .ranks = ranks.count(),
                  .threads = base::threads(),
                  .parameters = static_cast<double>(model->parameter_count()),
                  .gflop = model->step_gflop(options.batch, options.length)};
  models::State state;
  // The first one warms up.
  for (int64_t i = 0; i < options.repetitions + 1; ++i) {
    dist::largest(ranks, 0);  // all begin together
    timed.reset();
    const auto start = SteadyClock::now();
    const train::StepOutcome outcome =
        compute_gradients(*model, optimiser, state, [&](int64_t) { return batch; }, step);
    update(optimiser, 1e-4, outcome, step);
    const double seconds = Seconds(SteadyClock::now() - start).count();
    if (i == 0 || (times.step > 0 && seconds >= times.step)) continue;
    times.step = seconds;
    times.waiting = timed.waited();
  }
  if (ranks.count() > 1) {
    times.exchange = exchange_alone(ranks, model->parameter_count(), options.repetitions);
  }
  return times;
}

nlohmann::ordered_json to_json(const RankTimes& times) {
  return {{"model", times.model},           {"ranks", times.ranks},
          {"threads", times.threads},       {"step_s", times.step},
          {"waiting_s", times.waiting},     {"exchange_s", times.exchange},
          {"parameters", times.parameters}, {"gflop", times.gflop}};
}

RankTimes rank_times_from_json(const nlohmann::json& json, const std::string& source) {
  RankTimes times;
  with_source(source, [&] {
    times.model = base::required<std::string>(json, "model");
    times.ranks = base::required<int64_t>(json, "ranks");
    times.threads = base::required<int64_t>(json, "threads");
    times.step = base::required<double>(json, "step_s");
    times.waiting = base::required<double>(json, "waiting_s");
    times.exchange = base::required<double>(json, "exchange_s");
    times.parameters = base::required<double>(json, "parameters");
    times.gflop = base::required<double>(json, "gflop");
  });
  return times;
}

std::vector<Projection> project(const RankTimes& one, const RankTimes& several,
                                const std::vector<double>& parameters, int64_t tokens) {
  constexpr double kFlopOfParameter = 6, kBitsOfFloat = 32;
  const double rate = 1e9 * one.gflop / one.step;
  const auto moved = [](double machines) { return 2 * (machines - 1) / machines; };
  const double handling =
      several.exchange / several.parameters / moved(static_cast<double>(several.ranks));
  const auto compute = [&](double count) {
    if (count == one.parameters) return one.step;
    return kFlopOfParameter * count * static_cast<double>(tokens) / rate;
  };
  std::vector<Projection> all;
  for (const double count : parameters) {
    for (const double gigabits : {1.0, 10.0}) {
      for (const int64_t machines : {2, 8, 32}) {
        const double floats = moved(static_cast<double>(machines)) * count;
        all.push_back({.parameters = count,
                       .machines = machines,
                       .gigabits = gigabits,
                       .compute = compute(count),
                       .exchange = floats * (kBitsOfFloat / (1e9 * gigabits) + handling)});
      }
    }
  }
  return all;
}

}  // namespace edelta::bench
