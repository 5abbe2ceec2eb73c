#include "reproduce/in_process_launcher.h"

#include <c10/util/Exception.h>

#include "base/atomic_file.h"
#include "base/json.h"
#include "edelta/base/machine.h"
#include "edelta/train/trainer.h"
#include "reproduce/measure.h"

namespace edelta::reproduce {
namespace {

class EndedJob : public Job {
 public:
  explicit EndedJob(std::string how) : how_(std::move(how)) {}
  std::optional<std::string> poll() override { return how_; }
  void stop() override {}

 private:
  std::string how_;
};

// Computes with so many threads while it lives.
class Threads {
 public:
  explicit Threads(int64_t threads) : before_(base::threads()) { base::set_threads(threads); }
  ~Threads() { base::set_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int64_t before_;
};

}  // namespace

std::unique_ptr<Job> InProcessLauncher::start(const Step& step, int64_t threads,
                                              const std::filesystem::path& log) {
  const Threads computing(threads);
  std::string said, how = "done";
  try {
    if (const Training* training = step.training()) {
      const train::TrainOutcome outcome = train::train(
          train::RunFolder(training->folder), {.on_step = {}, .stop_signal = stop_signal_});
      if (outcome.stopped_by != 0) how = "stopped";
    } else {
      const Measurement& measurement = *step.measurement();
      base::write_json(measurement.file, measure(measurement.request));
    }
  } catch (const c10::Error& error) {
    said = std::string(error.what_without_backtrace()) + "\n";
    how = "failed";
  } catch (const std::exception& error) {
    said = std::string(error.what()) + "\n";
    how = "failed";
  }
  base::write_text_atomically(log, said);
  return std::make_unique<EndedJob>(how);
}

}  // namespace edelta::reproduce
