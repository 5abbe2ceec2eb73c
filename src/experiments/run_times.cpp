#include "experiments/run_times.h"

#include <fstream>

#include "edelta/experiments/bench.h"
#include "edelta/ops/machine.h"
#include "edelta/train/run_folder.h"

namespace edelta::experiments {
namespace {

// Of the rate of a large matrix product, what training reaches, roughly; only for the time before
// the first measured one.
constexpr double kShareOfGemm = 0.5;
constexpr double kOverhead = 2e-3;  // seconds a step, whatever its size

// The iteration of the last whole line of metrics.jsonl, without reading all of it.
int64_t last_iteration(const std::filesystem::path& metrics) {
  std::ifstream file(metrics, std::ios::binary | std::ios::ate);
  if (!file) return 0;
  constexpr std::streamoff kTail = 4096;
  file.seekg(std::max<std::streamoff>(0, static_cast<std::streamoff>(file.tellg()) - kTail));
  const std::string tail{std::istreambuf_iterator<char>(file), {}};
  const std::string key = "\"iteration\":";
  const size_t at = tail.rfind(key);
  return at == std::string::npos ? 0 : std::atoll(tail.c_str() + at + key.size());
}

}  // namespace

double RunTimes::work(const Step& step) {
  const train::TrainConfig& config = *step.training;
  const train::Protocol& protocol = config.train;
  const std::string key = models::to_json(config.model).dump();
  const auto [found, added] = gflop_.try_emplace(key, 0);
  if (added) found->second = step_gflop(config.model, 1, config.task->steps);
  return found->second *
         static_cast<double>(protocol.batch * protocol.accumulate * protocol.iterations);
}

double RunTimes::first_rate() {
  if (first_rate_ == 0) {
    const int64_t before = ops::threads();
    ops::set_threads(threads_);
    first_rate_ = kShareOfGemm * ops::measure_gemm(512, 0.1);
    ops::set_threads(before);
  }
  return first_rate_;
}

void RunTimes::learn(const Step& step) {
  const nlohmann::json result = train::RunFolder(folder_.run(step.name)).read_result();
  const double seconds = result.value("seconds", 0.0);
  for (Rate* rate : {&by_model_[step.training->model.model], &overall_}) {
    rate->work += work(step);
    rate->seconds += seconds;
  }
}

double RunTimes::seconds(const Step& step) {
  if (!step.training) return step.seconds;
  const Rate& own = by_model_[step.training->model.model];
  const Rate& rate = own.seconds > 0 ? own : overall_;
  if (rate.seconds > 0) return work(step) * rate.seconds / rate.work;
  return work(step) / first_rate() +
         kOverhead * static_cast<double>(step.training->train.iterations);
}

double RunTimes::seconds_left(const Step& step) {
  if (!step.training) return step.seconds;
  const auto done = last_iteration(train::RunFolder(folder_.run(step.name)).metrics_file());
  const auto all = static_cast<double>(step.training->train.iterations);
  return seconds(step) * std::max(0.0, 1 - static_cast<double>(done) / all);
}

}  // namespace edelta::experiments
