#include "edelta/experiments/runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>

#include "edelta/error.h"
#include "edelta/io/atomic_file.h"
#include "edelta/io/input_file.h"
#include "edelta/io/json.h"
#include "edelta/train/run_folder.h"
#include "experiments/child_process.h"
#include "experiments/run_times.h"

namespace edelta::experiments {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr auto kPause = std::chrono::milliseconds(20);
constexpr auto kOverviewInterval = std::chrono::milliseconds(500);

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool is_json_file(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return false;
  try {
    io::read_json(path);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

// "train.iterations is 600, not 2000", for the first entry that differs.
std::string first_difference(const json& there, const json& wanted) {
  const json here = there.flatten(), expected = wanted.flatten();
  for (const auto& [key, value] : expected.items()) {
    if (!here.contains(key) || here[key] != value) {
      return fmt::format("{} is {}, not {}", key.substr(1),
                         here.contains(key) ? here[key].dump() : "absent", value.dump());
    }
  }
  return "it has further settings";
}

StepStatus training_status(const SuiteFolder& folder, const Step& step) {
  const train::RunFolder run(folder.run(step.name));
  if (!run.exists()) return StepStatus::to_do;
  const json there = to_json(run.read_config()), wanted = to_json(*step.training);
  if (there != wanted) {
    throw InputError(
        fmt::format("{}: the run there has another configuration ({}); choose another "
                    "--out, or remove it",
                    run.path().string(), first_difference(there, wanted)));
  }
  return is_json_file(run.result_file()) ? StepStatus::done : StepStatus::partly_done;
}

StepStatus status_of(const SuiteFolder& folder, const Step& step) {
  if (step.training) return training_status(folder, step);
  return is_json_file(step.output) ? StepStatus::done : StepStatus::to_do;
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
  Runner(const SuiteFolder& folder, const SuiteManifest& manifest, const RunnerOptions& options)
      : folder_(folder),
        manifest_(manifest),
        options_(options),
        times_(folder, manifest.threads),
        recorded_failures_(folder.read_failures()) {
    for (Step& step : plan_steps(folder, manifest)) {
      ++total_;
      if (status_of(folder, step) == StepStatus::done) {
        finished(step);
      } else {
        waiting_.push_back(std::move(step));
      }
    }
    for (const char* name : {"runs", "measurements", "logs"}) {
      io::make_folder(folder.path() / name);
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
    std::filesystem::path partial;  // a measurement's output until it is complete
    ChildProcess child;
    Clock::time_point started = Clock::now();
  };

  void stop_if_asked() {
    stopped_by_ = options_.stop_signal();
    if (stopped_by_ == 0) return;
    for (const Running& job : running_) job.child.stop();
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
    if (step.training) {
      const train::RunFolder run(folder_.run(step.name));
      if (!run.exists()) run.create(*step.training);
      std::filesystem::remove(run.result_file());  // only there when it is not whole
    }
    std::filesystem::path partial = step.output;
    if (!step.output.empty()) partial += ".part";
    running_.push_back(
        {step, partial,
         ChildProcess({.arguments = step.arguments,
                       .log = folder_.log(step.name),
                       .output = partial,
                       .threads = step.exclusive ? options_.all_threads : manifest_.threads})});
  }

  void collect_ended() {
    for (size_t i = 0; i < running_.size();) {
      const std::optional<int> code = running_[i].child.poll();
      if (!code) {
        ++i;
        continue;
      }
      const Running job = running_[i];
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      ended(job, *code);
    }
  }

  // A measurement whose output is whole has done its work: a theorem that fails is a result.
  void ended(const Running& job, int code) {
    if (!job.partial.empty() && is_json_file(job.partial)) {
      io::write_text_atomically(job.step.output, io::read_text(job.partial, size_t{64} << 20));
    }
    if (!job.partial.empty()) std::filesystem::remove(job.partial);
    if (status_of(folder_, job.step) == StepStatus::done) {
      finished(job.step);
    } else if (stopped_by_ == 0) {
      const std::string said = last_line(folder_.log(job.step.name));
      const std::string how = code > 128 ? fmt::format("ended by signal {}", code - 128)
                                         : fmt::format("exit code {}", code);
      fail(job.step, said.empty() ? how : fmt::format("{} ({})", said, how));
    }
  }

  void finished(const Step& step) {
    done_.insert(step.name);
    recorded_failures_.erase(step.name);
    if (step.training) times_.learn(step);
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
    for (const Running& job : running_) {
      overview.running.push_back(job.step.name);
      (job.step.exclusive ? alone : shared) +=
          job.step.training ? times_.seconds_left(job.step)
                            : std::max(0.0, job.step.seconds - since(job.started));
    }
    for (const Step& step : waiting_) {
      (step.exclusive ? alone : shared) += times_.seconds_left(step);
    }
    overview.seconds_left = shared / static_cast<double>(options_.jobs) + alone;
    options_.on_overview(overview);
  }

  const SuiteFolder& folder_;
  const SuiteManifest& manifest_;
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

template <class T>
void add_new(std::vector<T>& list, const std::vector<T>& more) {
  for (const T& item : more) {
    if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
  }
}

}  // namespace

std::string to_string(StepStatus status) {
  switch (status) {
    case StepStatus::to_do:
      return "to do";
    case StepStatus::partly_done:
      return "partly done";
    case StepStatus::done:
      return "done";
  }
  return "?";
}

SuiteLock::SuiteLock(const SuiteFolder& folder) {
  io::make_folder(folder.path());
  const std::filesystem::path file = folder.path() / ".lock";
  // Not closed in children: a lock of this kind lasts until its last holder ends.
  descriptor_ = open(file.c_str(), O_RDWR | O_CREAT, 0666);
  if (descriptor_ < 0) throw Failure(fmt::format("{}: {}", file.string(), std::strerror(errno)));
  while (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    char text[32] = {};
    const ssize_t size = pread(descriptor_, text, sizeof text - 1, 0);
    const pid_t holder = size > 0 ? std::atoi(text) : 0;
    if (holder > 0 && (kill(holder, 0) == 0 || errno == EPERM)) {
      close(descriptor_);
      throw InputError(fmt::format("{}: another edelta reproduce is at work there (process {})",
                                   folder.path().string(), holder));
    }
    std::this_thread::sleep_for(kPause);  // children of one that was killed are saving
  }
  const std::string holder = std::to_string(getpid()) + "\n";
  if (ftruncate(descriptor_, 0) != 0 ||
      pwrite(descriptor_, holder.data(), holder.size(), 0) != static_cast<ssize_t>(holder.size())) {
    const int error = errno;
    close(descriptor_);
    throw Failure(fmt::format("{}: {}", file.string(), std::strerror(error)));
  }
}

SuiteLock::~SuiteLock() { close(descriptor_); }

SuiteManifest merged_manifest(const SuiteFolder& folder, const std::string& preset,
                              const std::vector<std::string>& names,
                              const std::vector<uint64_t>& seeds, int64_t threads) {
  select_experiments(names);  // refuses unknown ones
  SuiteManifest manifest{preset, {}, threads, {}};
  if (folder.exists()) manifest = folder.read_manifest();
  if (manifest.preset != preset) {
    throw InputError(
        fmt::format("{}: the results there are of preset {}, not {}; choose another "
                    "--out",
                    folder.path().string(), manifest.preset, preset));
  }
  add_new(manifest.seeds,
          manifest.seeds.empty() && seeds.empty() ? suite_preset(preset).seeds : seeds);
  add_new(manifest.names, names);
  return manifest;
}

std::vector<PlannedStep> inspect_steps(const SuiteFolder& folder, const SuiteManifest& manifest) {
  RunTimes times(folder, manifest.threads);
  std::vector<PlannedStep> planned;
  for (Step& step : plan_steps(folder, manifest)) {
    const StepStatus status = status_of(folder, step);
    if (status == StepStatus::done && step.training) times.learn(step);
    planned.push_back({std::move(step), status, 0});
  }
  for (PlannedStep& each : planned) {
    if (each.status != StepStatus::done) each.seconds = times.seconds_left(each.step);
  }
  return planned;
}

RunnerOutcome run_steps(const SuiteFolder& folder, const SuiteManifest& manifest,
                        const RunnerOptions& options) {
  return Runner(folder, manifest, options).run();
}

}  // namespace edelta::experiments
