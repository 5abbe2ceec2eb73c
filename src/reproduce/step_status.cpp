#include "reproduce/step_status.h"

#include <fmt/format.h>

#include "base/json.h"
#include "edelta/base/error.h"
#include "edelta/train/run_folder.h"
#include "reproduce/plan.h"
#include "reproduce/run_times.h"

namespace edelta::reproduce {
namespace {

using nlohmann::json;

bool is_json_file(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return false;
  try {
    base::read_json(path);
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

StepStatus training_status(const Training& training) {
  const train::RunFolder run(training.folder);
  if (!run.exists()) return StepStatus::to_do;
  const train::TrainConfig there = run.read_config();
  if (!same_run(there, training.config)) {
    throw InputError(fmt::format(
        "{}: the run there has another configuration ({}); choose another "
        "--out, or remove it",
        run.path().string(), first_difference(to_json(there), to_json(training.config))));
  }
  return is_json_file(run.result_file()) ? StepStatus::done : StepStatus::partly_done;
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

StepStatus status_of(const Step& step) {
  if (const Training* training = step.training()) return training_status(*training);
  return is_json_file(step.measurement()->file) ? StepStatus::done : StepStatus::to_do;
}

std::vector<PlannedStep> inspect_steps(const SuiteFolder& folder, const SuiteManifest& manifest) {
  RunTimes times(manifest.threads);
  std::vector<PlannedStep> planned;
  for (Step& step : plan_steps(folder, manifest)) {
    const StepStatus status = status_of(step);
    if (status == StepStatus::done) times.learn(step);
    planned.push_back({std::move(step), status, 0});
  }
  for (PlannedStep& each : planned) {
    if (each.status != StepStatus::done) each.seconds = times.seconds_left(each.step);
  }
  return planned;
}

}  // namespace edelta::reproduce
