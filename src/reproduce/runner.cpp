#include "reproduce/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <set>
#include <thread>

#include "base/atomic_file.h"
#include "edelta/base/error.h"
#include "edelta/train/run_folder.h"
#include "reproduce/plan.h"
#include "reproduce/run_times.h"
#include "reproduce/step_status.h"

namespace edelta::reproduce {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPause = std::chrono::milliseconds(20);
constexpr auto kOverviewInterval = std::chrono::milliseconds(500);

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string last_line(const std::filesystem::path& log) {
  std::ifstream file(log);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

// One call's work.
class Runner {
 public:
  Runner(const SuiteFolder& folder, const SuiteManifest& manifest, Launcher& launcher,
         const RunnerOptions& options)
      : folder_(folder),
        manifest_(manifest),
        launcher_(launcher),
        options_(options),
        times_(manifest.threads),
        recorded_failures_(folder.read_failures()) {
    for (Step& step : plan_steps(folder, manifest)) {
      ++total_;
      if (status_of(step) == StepStatus::done) {
        finished(step);
      } else {
        waiting_.push_back(std::move(step));
      }
    }
    for (const char* name : {"runs", "measurements", "logs"}) {
      base::make_folder(folder.path() / name);
    }
  }

  RunnerOutcome run() {
    while (!waiting_.empty() || !running_.empty()) {
      if (stopped_by_ == 0 && options_.stop_signal) stop_if_asked();
      collect_ended();
      if (stopped_by_ != 0) waiting_.clear();
      start_what_can();
      show_overview(/*now=*/false);
      if (!running_.empty()) std::this_thread::sleep_for(kPause);
    }
    if (stopped_by_ == 0) show_overview(/*now=*/true);
    for (const auto& [name, reason] : failures_) recorded_failures_[name] = reason;
    folder_.write_failures(recorded_failures_);
    return {stopped_by_, failures_};
  }

 private:
  struct Running {
    Step step;
    std::unique_ptr<Job> job;
    Clock::time_point started = Clock::now();
  };

  void stop_if_asked() {
    stopped_by_ = options_.stop_signal();
    if (stopped_by_ == 0) return;
    for (const Running& each : running_) each.job->stop();
  }

  void start_what_can() {
    for (size_t i = 0;
         i < waiting_.size() && static_cast<int64_t>(running_.size()) < options_.jobs;) {
      const Step& step = waiting_[i];
      const bool alone = !running_.empty() && running_.front().step.exclusive;
      const bool needs = !step.after.empty() && !done_.contains(step.after);
      if (needs && failures_.contains(step.after)) {
        fail(step, "it needs " + step.after);
      } else if (alone || needs || (step.exclusive && !running_.empty())) {
        ++i;
        continue;
      } else {
        try {
          start(step);
        } catch (const Failure& failure) {
          fail(step, failure.what());
        }
      }
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  void start(const Step& step) {
    if (const Training* training = step.training()) {
      const train::RunFolder run(training->folder);
      if (!run.exists()) run.create(training->config);
      std::filesystem::remove(run.result_file());  // only there when it is not whole
    }
    const int64_t threads = step.exclusive ? options_.all_threads : manifest_.threads;
    running_.push_back({step, launcher_.start(step, threads, folder_.log(step.name))});
  }

  void collect_ended() {
    for (size_t i = 0; i < running_.size();) {
      const std::optional<std::string> how = running_[i].job->poll();
      if (!how) {
        ++i;
        continue;
      }
      const Step step = std::move(running_[i].step);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      ended(step, *how);
    }
  }

  // A step whose result is whole has done its work, however it ended: a theorem that fails is a
  // result.
  void ended(const Step& step, const std::string& how) {
    if (status_of(step) == StepStatus::done) {
      finished(step);
    } else if (stopped_by_ == 0) {
      const std::string said = last_line(folder_.log(step.name));
      fail(step, said.empty() ? how : fmt::format("{} ({})", said, how));
    }
  }

  void finished(const Step& step) {
    done_.insert(step.name);
    recorded_failures_.erase(step.name);
    times_.learn(step);
  }

  void fail(const Step& step, const std::string& reason) {
    failures_[step.name] = reason;
    if (options_.on_failure) options_.on_failure(step.name, reason);
  }

  void show_overview(bool now) {
    if (!options_.on_overview || (!now && Clock::now() - shown_ < kOverviewInterval)) return;
    shown_ = Clock::now();
    Overview overview{.total = total_,
                      .done = static_cast<int64_t>(done_.size()),
                      .failed = static_cast<int64_t>(failures_.size()),
                      .running = {}};
    double shared = 0, alone = 0;
    for (const Running& each : running_) {
      overview.running.push_back(each.step.name);
      (each.step.exclusive ? alone : shared) +=
          each.step.training() ? times_.seconds_left(each.step)
                               : std::max(0.0, each.step.seconds - since(each.started));
    }
    for (const Step& step : waiting_) {
      (step.exclusive ? alone : shared) += times_.seconds_left(step);
    }
    overview.seconds_left = shared / static_cast<double>(options_.jobs) + alone;
    options_.on_overview(overview);
  }

  const SuiteFolder& folder_;
  const SuiteManifest& manifest_;
  Launcher& launcher_;
  const RunnerOptions& options_;
  RunTimes times_;
  std::vector<Step> waiting_;
  std::vector<Running> running_;
  std::set<std::string> done_;
  std::map<std::string, std::string> failures_;  // of this call
  std::map<std::string, std::string>
      recorded_failures_;  // of earlier calls, until the step is done
  int64_t total_ = 0;
  int stopped_by_ = 0;
  Clock::time_point shown_{};
};

}  // namespace

RunnerOutcome run_steps(const SuiteFolder& folder, const SuiteManifest& manifest,
                        Launcher& launcher, const RunnerOptions& options) {
  return Runner(folder, manifest, launcher, options).run();
}

}  // namespace edelta::reproduce
