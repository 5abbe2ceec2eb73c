#include "cli/slurm_suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

#include "base/atomic_file.h"
#include "base/input_file.h"
#include "base/json.h"
#include "cli/process_launcher.h"
#include "cli/shell_command.h"
#include "edelta/base/error.h"
#include "edelta/train/run_folder.h"

namespace edelta::cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLongestArray = 1000;  // Slurm's MaxArraySize is 1001 unless somebody changed it
// Estimates are rough, and another machine may be slower.
constexpr double kPatience = 3;
constexpr double kLeastMinutes = 10;

struct Answer {
  int code;
  std::string text;
};

Answer ask(const std::vector<std::string>& words) {
  std::string command;
  for (const std::string& word : words) command += shell_quoted(word) + " ";
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen((command + "2>&1").c_str(), "re"),
                                                       ::pclose);
  if (!pipe) throw Failure(fmt::format("{}: it cannot be started", words.front()));
  std::string text;
  char buffer[4096];
  while (const size_t got = std::fread(buffer, 1, sizeof buffer, pipe.get())) {
    text.append(buffer, got);
  }
  const int status = ::pclose(pipe.release());
  while (!text.empty() && text.back() == '\n') text.pop_back();
  constexpr int kNotFound = 127;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : kNotFound;
  if (code == kNotFound) {
    throw InputError(
        fmt::format("{} is not there; --launcher slurm needs Slurm's commands", words.front()));
  }
  return {code, text};
}

std::string last_line_of(const std::string& text) { return text.substr(text.rfind('\n') + 1); }

constexpr const char* kDigits = "0123456789";

// Whether it is "JOB_INDEX", an element of a job array, with numbers that any Slurm has.
bool is_element(const std::string& text) {
  const size_t bar = text.find('_');
  if (bar == 0 || bar == std::string::npos || bar > 12 || bar + 1 == text.size()) return false;
  return text.size() - bar <= 12 && text.find_first_not_of(kDigits) == bar &&
         text.find_first_not_of(kDigits, bar + 1) == std::string::npos;
}

// The state of every element of this user that waits or runs.
std::map<std::string, JobState> queue() {
  const Answer answer = ask({"squeue", "--noheader", "--array", "--user",
                             std::to_string(::getuid()), "--format", "%F_%K %T"});
  if (answer.code != 0) throw Failure("squeue: " + last_line_of(answer.text));
  std::map<std::string, JobState> states;
  std::istringstream lines(answer.text);
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.find(' ');
    const std::string job = line.substr(0, space);
    if (space == std::string::npos || !is_element(job)) continue;  // a warning, say
    const std::string state = line.substr(space + 1);
    const bool waits = state == "PENDING" || state == "CONFIGURING" || state.starts_with("REQUEUE");
    states[job] = waits ? JobState::waits : JobState::runs;
  }
  return states;
}

std::string last_said(const fs::path& log) {
  std::ifstream stream(log);
  std::string last;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

// How a step ended by itself.
std::optional<int> exit_code(const fs::path& file) {
  std::ifstream stream(file);
  int code = 0;
  return stream >> code ? std::optional(code) : std::nullopt;
}

std::string job_number(const std::string& job) { return job.substr(0, job.find('_')); }
int64_t job_index(const std::string& job) { return std::stoll(job.substr(job.find('_') + 1)); }

}  // namespace

std::string to_string(JobState state) {
  switch (state) {
    case JobState::done:
      return "done";
    case JobState::runs:
      return "runs";
    case JobState::waits:
      return "waits";
    case JobState::failed:
      return "failed";
    case JobState::stopped:
      return "stopped";
    case JobState::to_do:
      return "to do";
  }
  return "?";
}

void require_slurm() {
  const Answer answer = ask({"sbatch", "--version"});
  if (answer.code != 0) throw InputError("sbatch: " + last_line_of(answer.text));
}

SlurmSuite::SlurmSuite(const reproduce::SuiteFolder& folder,
                       const reproduce::SuiteManifest& manifest)
    : folder_(folder), manifest_(manifest) {
  if (!base::is_there(file("jobs.json"))) return;
  try {
    jobs_ = base::read_json(file("jobs.json")).get<std::map<std::string, std::string>>();
  } catch (const nlohmann::json::exception&) {
    throw InputError(file("jobs.json").string() + " must be an object of strings");
  }
  for (const auto& [step, job] : jobs_) {
    if (is_element(job)) continue;
    throw InputError(fmt::format("{}: the job of {} is '{}', which is no element of a job array",
                                 file("jobs.json").string(), step, job));
  }
}

fs::path SlurmSuite::file(const std::string& name) const { return folder_.path() / "slurm" / name; }

std::vector<SlurmStep> SlurmSuite::look() const {
  // Before the files: what ends meanwhile is then found to be done.
  const std::map<std::string, JobState> queued =
      jobs_.empty() ? std::map<std::string, JobState>() : queue();
  std::vector<SlurmStep> steps;
  std::set<std::string> failed;
  for (reproduce::PlannedStep& planned : inspect_steps(folder_, manifest_)) {
    SlurmStep found{std::move(planned.step), JobState::to_do, {}, planned.seconds};
    const std::string& name = found.step.name;
    const auto job = jobs_.find(name);
    const auto in_queue = job == jobs_.end() ? queued.end() : queued.find(job->second);
    const std::optional<int> code = exit_code(file("steps/" + name + ".exit"));
    if (planned.status == reproduce::StepStatus::done) {
      found.state = JobState::done;
    } else if (in_queue != queued.end()) {
      found.state = in_queue->second;
    } else if (failed.contains(found.step.after)) {
      found.state = JobState::failed;
      found.reason = "it needs " + found.step.after;
      failed.insert(name);
    } else if (job != jobs_.end() && code && *code <= 128) {
      found.state = JobState::failed;
      const std::string said = last_said(folder_.log(name));
      found.reason = fmt::format("{}{}exit code {}", said, said.empty() ? "" : ", ", *code);
      failed.insert(name);
    } else if (job != jobs_.end()) {
      found.state = JobState::stopped;
      found.reason = code ? fmt::format("by signal {}", *code - 128)
                          : fmt::format("job {} is gone", job->second);
    }
    steps.push_back(std::move(found));
  }
  return steps;
}

void SlurmSuite::write_script(const reproduce::Step& step) const {
  const auto quoted = [](const fs::path& path) { return shell_quoted(path.string()); };
  std::string command = shell_quoted(fs::read_symlink("/proc/self/exe").string());
  for (const std::string& word : step_arguments(step)) command += " " + shell_quoted(word);
  const fs::path log = folder_.log(step.name), ended = file("steps/" + step.name + ".exit");
  std::string to = fmt::format(">{} 2>&1", quoted(log)), keep;
  if (const reproduce::Measurement* measurement = step.measurement()) {
    fs::path output = measurement->file;
    output += ".part";
    to = fmt::format(">{} 2>{}", quoted(output), quoted(log));
    // A theorem that fails is a result: exit code 1 with all that was to be said.
    keep = fmt::format("[ $code -gt 1 ] || [ ! -s {0} ] || mv {0} {1}\n", quoted(output),
                       quoted(measurement->file));
  }
  const std::string threads = step.exclusive
                                  ? "unset OMP_NUM_THREADS"
                                  : fmt::format("export OMP_NUM_THREADS={}", manifest_.threads);
  base::write_text_atomically(
      file("steps/" + step.name + ".sh"),
      fmt::format("#!/bin/sh\n"
                  "# {0}, as edelta reproduce --launcher slurm has it done.\n"
                  "rm -f {1}\n"
                  "{2}\n"
                  "export GOMP_SPINCOUNT=10000\n"
                  "child=\n"
                  "trap 'kill -TERM \"$child\" 2>/dev/null' TERM\n"
                  "{3} {4} &\n"
                  "child=$!\n"
                  "wait \"$child\"\n"
                  "code=$?\n"
                  "# The signal ends the first wait before the program has saved.\n"
                  "while kill -0 \"$child\" 2>/dev/null; do wait \"$child\"; code=$?; done\n"
                  "{5}"
                  "echo $code >{1}\n"
                  "exit $code\n",
                  step.name, quoted(ended), threads, command, to, keep));
}

void SlurmSuite::submit_array(const std::vector<Element>& elements, const std::string& after,
                              double seconds, const std::string& options) {
  int64_t number = 1;
  while (fs::exists(file(fmt::format("arrays/{}", number)))) ++number;
  const fs::path array = file(fmt::format("arrays/{}", number));
  base::make_folder(array);
  base::make_folder(file("said"));
  std::vector<int64_t> indices;
  for (const Element& element : elements) {
    write_script(*element.step);
    base::write_text_atomically(array / std::to_string(element.index), element.step->name + "\n");
    indices.push_back(element.index);
  }
  const std::string steps = shell_quoted(file("steps").string());
  base::write_text_atomically(
      array / "job.sh",
      fmt::format("#!/bin/sh\nexec /bin/sh {}/\"$(cat {}/\"$SLURM_ARRAY_TASK_ID\")\".sh\n", steps,
                  shell_quoted(array.string())));
  const reproduce::Step& first = *elements.front().step;
  std::vector<std::string> words{
      "sbatch",
      "--parsable",
      "--job-name=edelta",
      fmt::format("--array={}{}", fmt::join(indices, ","), first.exclusive ? "%1" : ""),
      "--ntasks=1",
      fmt::format("--cpus-per-task={}", manifest_.threads),
      fmt::format("--time={:.0f}", std::ceil(kLeastMinutes + kPatience * seconds / 60)),
      "--requeue",
      "--signal=B:TERM@60",
      "--chdir=" + folder_.path().string(),
      "--output=" + file("said").string() + "/%A_%a"};
  if (first.exclusive) words.emplace_back("--exclusive");
  if (!after.empty()) {
    words.insert(words.end(), {"--dependency=aftercorr:" + after, "--kill-on-invalid-dep=yes"});
  }
  std::istringstream further(options);
  for (std::string word; further >> word;) words.push_back(word);
  words.push_back((array / "job.sh").string());
  const Answer answer = ask(words);
  const std::string id = job_number(last_line_of(answer.text));
  const std::string job = id.substr(0, id.find(';'));  // a cluster's name may follow
  if (answer.code != 0 || job.empty() || job.find_first_not_of(kDigits) != std::string::npos) {
    throw InputError("sbatch: " + last_line_of(answer.text));
  }
  for (const Element& element : elements) {
    jobs_[element.step->name] = fmt::format("{}_{}", job, element.index);
  }
  // After every array: what was submitted is known even if the next one is refused.
  base::write_json(file("jobs.json"), nlohmann::ordered_json(jobs_));
}

int64_t SlurmSuite::submit(std::vector<SlurmStep>& steps, const std::string& options) {
  for (const char* name : {"runs", "measurements", "logs", "slurm/steps"}) {
    base::make_folder(folder_.path() / name);
  }
  std::map<std::string, JobState> states;
  for (const SlurmStep& each : steps) states[each.step.name] = each.state;
  const auto is_to_be_submitted = [&](const SlurmStep& each) {
    return each.state != JobState::done && each.state != JobState::runs &&
           each.state != JobState::waits;
  };
  int64_t submitted = 0;
  const auto send = [&](const std::vector<SlurmStep*>& group, const std::string& after) {
    std::vector<Element> elements;
    double seconds = 0;
    for (SlurmStep* each : group) {
      if (const reproduce::Training* training = each->step.training()) {
        const train::RunFolder run(training->folder);
        if (!run.exists()) run.create(training->config);
        fs::remove(run.result_file());  // only there when it is not whole
      }
      fs::remove(file("steps/" + each->step.name + ".exit"));
      const auto place = static_cast<int64_t>(elements.size());
      elements.push_back(
          {&each->step, after.empty() ? place : job_index(jobs_.at(each->step.after))});
      seconds = std::max(seconds, each->seconds);
      each->state = JobState::waits;
    }
    submit_array(elements, after, seconds, options);
    submitted += static_cast<int64_t>(group.size());
  };

  // What needs nothing that is still to be done, then what does: those come after the array of what
  // they need, each after the element of its own index.
  for (const bool exclusive : {false, true}) {
    std::vector<SlurmStep*> free;
    for (SlurmStep& each : steps) {
      const std::string& after = each.step.after;
      const bool ready = after.empty() || states[after] == JobState::done;
      if (!is_to_be_submitted(each) || !ready || each.step.exclusive != exclusive) continue;
      free.push_back(&each);
      if (static_cast<int64_t>(free.size()) == kLongestArray) {
        send(free, {});
        free.clear();
      }
    }
    if (!free.empty()) send(free, {});
  }
  while (true) {
    std::map<std::string, std::vector<SlurmStep*>> dependent;  // by the array that they need
    std::set<std::string> needed;                              // elements, once an array
    for (SlurmStep& each : steps) {
      const auto before = jobs_.find(each.step.after);
      if (!is_to_be_submitted(each) || each.step.after.empty() || before == jobs_.end()) continue;
      if (states[each.step.after] == JobState::done || !needed.insert(before->second).second) {
        continue;
      }
      dependent[job_number(before->second)].push_back(&each);
    }
    if (dependent.empty()) return submitted;
    for (const auto& [after, group] : dependent) send(group, after);
  }
}

}  // namespace edelta::cli
