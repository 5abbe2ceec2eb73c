#include "cli/process_launcher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/atomic_file.h"
#include "base/input_file.h"
#include "base/json.h"
#include "cli/own_process.h"
#include "edelta/base/error.h"
#include "edelta/data/task.h"
#include "edelta/models/config.h"

namespace edelta::cli {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

// A list as the options with commas take it.
template <class T>
std::string joined(const std::vector<T>& values) {
  return fmt::format("{}", fmt::join(values, ","));
}

// The flags of the fields that `settings` has.
void add_settings(const nlohmann::json& settings, const std::vector<Field>& fields,
                  Arguments& arguments) {
  for (const Field& field : fields) {
    const auto found = settings.find(field.key);
    if (found == settings.end()) continue;
    const std::string value = found->is_string() ? found->get<std::string>() : found->dump();
    arguments.insert(arguments.end(), {field.flag_name(), value});
  }
}

// The command line of a measurement. What the commands have no option for (the operators' dimension
// in the reflection probe, the inputs' in the benchmark) is the same in every preset: their
// default.
struct MeasurementArguments {
  Arguments operator()(const verify::TheoremOptions& options) const {
    return {"verify",
            "--samples",
            std::to_string(options.samples),
            "--n",
            joined(options.sizes),
            "--seed",
            std::to_string(options.seed)};
  }
  Arguments operator()(const reproduce::CountParameters&) const { return {"params"}; }
  Arguments operator()(const reproduce::MeasureBaselines& request) const {
    Arguments arguments{"baselines", request.task.task};
    add_settings(request.task, data::task_fields(), arguments);
    return arguments;
  }
  Arguments operator()(const reproduce::ProbeNorms& probe) const {
    return {"norms",       probe.run.string(),
            "--sequences", std::to_string(probe.options.sequences),
            "--positions", std::to_string(probe.options.positions),
            "--seed",      std::to_string(probe.options.seed)};
  }
  Arguments operator()(const reproduce::ProbeOperators& probe) const {
    return {"inspect", probe.run.string(), "--sequences", std::to_string(probe.sequences)};
  }
  Arguments operator()(const reproduce::WriteSamples& request) const {
    return {
        "generate", request.run.string(),           "--samples", std::to_string(request.samples),
        "--tokens", std::to_string(request.tokens), "--seed",    std::to_string(request.seed)};
  }
  Arguments operator()(const reproduce::SolvePuzzle& request) const {
    return {"solve", request.run.string(), "--test", std::to_string(request.test), "--steps"};
  }
  Arguments operator()(const probes::ReflectionProbeOptions& options) const {
    Arguments arguments{"reflect",
                        "--samples",
                        joined(options.samples),
                        "--seeds",
                        joined(options.seeds),
                        "--iterations",
                        std::to_string(options.iterations)};
    if (!options.operators.empty()) {
      arguments.insert(arguments.end(), {"--operators", joined(options.operators)});
    }
    return arguments;
  }
  Arguments operator()(const probes::DepthProbeOptions& options) const {
    Arguments arguments{"depth",
                        "--layers",
                        joined(options.layers),
                        "--task",
                        options.task,
                        "--preset",
                        options.preset,
                        "--iterations",
                        std::to_string(options.iterations),
                        "--sequences",
                        std::to_string(options.sequences),
                        "--seed",
                        std::to_string(options.seed)};
    if (!options.models.empty()) {
      arguments.insert(arguments.end(), {"--models", joined(options.models)});
    }
    add_settings(options.model_settings, models::model_fields(), arguments);
    add_settings(options.task_settings, data::task_fields(), arguments);
    return arguments;
  }
  Arguments operator()(const bench::BenchOptions& options) const {
    return {"bench",
            "--batch",
            std::to_string(options.batch),
            "--length",
            std::to_string(options.length),
            "--repetitions",
            std::to_string(options.repetitions),
            "--compare",
            options.compare ? "composite" : "none"};
  }
};

std::vector<std::string> child_environment(int64_t threads) {
  std::vector<std::string> environment{fmt::format("OMP_NUM_THREADS={}", threads)};
  bool spin_given = false;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (text.starts_with("OMP_NUM_THREADS=")) continue;
    spin_given = spin_given || text.starts_with("GOMP_SPINCOUNT=");
    environment.push_back(text);
  }
  // Threads of several jobs that wait for each other must not spin for long.
  if (!spin_given) environment.emplace_back("GOMP_SPINCOUNT=10000");
  return environment;
}

// A file to write to, closed in children.
class OpenFile {
 public:
  OpenFile(const fs::path& path, int flags)
      : descriptor_(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666)) {
    if (descriptor_ < 0) throw Failure(fmt::format("{}: {}", path.string(), std::strerror(errno)));
  }
  ~OpenFile() { close(descriptor_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

class ProcessJob : public reproduce::Job {
 public:
  // `output`: the file that standard output becomes when it is whole, or empty.
  ProcessJob(pid_t child, fs::path partial, fs::path output)
      : child_(child), partial_(std::move(partial)), output_(std::move(output)) {}

  std::optional<std::string> poll() override {
    int status = 0;
    const pid_t ended = waitpid(child_, &status, WNOHANG);
    if (ended == 0) return std::nullopt;
    if (!output_.empty()) keep_output();
    if (ended > 0 && WIFSIGNALED(status)) {
      return fmt::format("ended by signal {}", WTERMSIG(status));
    }
    return fmt::format("exit code {}", ended > 0 ? WEXITSTATUS(status) : kNotStarted);
  }

  void stop() override { kill(child_, SIGTERM); }

 private:
  void keep_output() const {
    try {
      const std::string text = base::read_text(partial_, size_t{64} << 20);
      base::parse_json(text, partial_.string());
      base::write_text_atomically(output_, text);
    } catch (const InputError&) {
      // It was cut off: the step is not done.
    }
    fs::remove(partial_);
  }

  pid_t child_;
  fs::path partial_, output_;
};

}  // namespace

std::vector<std::string> step_arguments(const reproduce::Step& step) {
  if (const reproduce::Training* training = step.training()) {
    return {"train", "--resume", training->folder.string()};
  }
  Arguments arguments = std::visit(MeasurementArguments(), step.measurement()->request);
  arguments.emplace_back("--json");
  return arguments;
}

std::unique_ptr<reproduce::Job> ProcessLauncher::start(const reproduce::Step& step, int64_t threads,
                                                       const fs::path& log) {
  const OpenFile messages(log, O_TRUNC | O_APPEND);
  const Arguments arguments = step_arguments(step);
  if (step.training()) {
    const pid_t child = start_own_process(arguments, child_environment(threads),
                                          messages.descriptor(), messages.descriptor());
    return std::make_unique<ProcessJob>(child, fs::path(), fs::path());
  }
  const fs::path& output = step.measurement()->file;
  fs::path partial = output;
  partial += ".part";
  const OpenFile printed(partial, O_TRUNC);
  const pid_t child = start_own_process(arguments, child_environment(threads), printed.descriptor(),
                                        messages.descriptor());
  return std::make_unique<ProcessJob>(child, partial, output);
}

}  // namespace edelta::cli
