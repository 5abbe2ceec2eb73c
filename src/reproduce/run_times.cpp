#include "reproduce/run_times.h"

#include <fstream>

#include "edelta/base/machine.h"
#include "edelta/models/model.h"
#include "edelta/models/recursive.h"
#include "edelta/train/run_folder.h"
#include "reproduce/run_archive.h"

namespace edelta::reproduce {
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

// Of one row of a batch.
double row_gflop(const train::TrainConfig& config) {
  if (config.recursive) {
    return models::RecursiveModel(config.recursive->model, /*seed=*/0).step_gflop(1);
  }
  const int64_t positions = config.task ? config.task->steps : config.model.block_size;
  return models::make_model(config.model)->step_gflop(1, positions);
}

}  // namespace

double RunTimes::work(const Training& training) {
  const train::TrainConfig& config = training.config;
  const train::Protocol& protocol = config.train;
  const std::string key = to_json(config)["model"].dump();
  const auto [found, added] = gflop_.try_emplace(key, 0);
  if (added) found->second = row_gflop(config);
  return found->second *
         static_cast<double>(protocol.batch * protocol.accumulate * protocol.iterations);
}

double RunTimes::first_rate() {
  if (first_rate_ == 0) {
    const int64_t before = base::threads();
    base::set_threads(threads_);
    first_rate_ = kShareOfGemm * base::measure_gemm(512, 0.1);
    base::set_threads(before);
  }
  return first_rate_;
}

void RunTimes::learn(const Step& step) {
  const Training* training = step.training();
  if (training == nullptr) return;
  const double seconds = training_seconds(train::RunFolder(training->folder).result_file());
  for (Rate* rate : {&by_model_[training->config.full_model_name()], &overall_}) {
    rate->work += work(*training);
    rate->seconds += seconds;
  }
}

double RunTimes::seconds(const Training& training) {
  const Rate& own = by_model_[training.config.full_model_name()];
  const Rate& rate = own.seconds > 0 ? own : overall_;
  if (rate.seconds > 0) return work(training) * rate.seconds / rate.work;
  return work(training) / first_rate() +
         kOverhead * static_cast<double>(training.config.train.iterations);
}

double RunTimes::seconds_left(const Step& step) {
  const Training* training = step.training();
  if (training == nullptr) return step.seconds;
  const auto done = last_iteration(train::RunFolder(training->folder).metrics_file());
  const auto all = static_cast<double>(training->config.train.iterations);
  return seconds(*training) * std::max(0.0, 1 - static_cast<double>(done) / all);
}

}  // namespace edelta::reproduce
