#include "reproduce/run_archive.h"

#include "base/required_fields.h"
#include "edelta/train/run_folder.h"
#include "reproduce/plan.h"

namespace edelta::reproduce {
namespace {

using nlohmann::json;

RunOutcome read_outcome(const train::RunFolder& run) {
  const json result = run.read_result();
  RunOutcome outcome;
  with_source(run.result_file().string(), [&] {
    outcome.best_val_loss = base::required_number(result, "best_val_loss");
    outcome.final_val_loss = base::required_number(result, "final_val_loss");
    outcome.parameters = base::required<double>(result, "parameters");
    if (result.contains("measures")) {
      for (const auto& [name, value] : result["measures"].items()) {
        json_fields::read(name, value, outcome.measures[name]);
      }
    }
    outcome.machine = summarise_machine(base::required_entry(result, "machine"));
  });
  outcome.seconds = training_seconds(run.result_file());
  return outcome;
}

}  // namespace

double training_seconds(const std::filesystem::path& result_file) {
  const json result = base::read_json(result_file);
  double seconds = 0;
  with_source(result_file.string(), [&] {
    if (result.contains("seconds")) seconds = base::required<double>(result, "seconds");
  });
  return seconds;
}

MachineSummary summarise_machine(const json& machine) {
  MachineSummary summary;
  const auto read = [&](const char* key, std::string& field) {
    if (machine.contains(key)) json_fields::read(key, machine[key], field);
  };
  read("cpu", summary.cpu);
  if (machine.contains("threads")) {
    int64_t threads = 0;
    json_fields::read("threads", machine["threads"], threads);
    summary.threads = {threads};
  }
  read("simd", summary.isa);
  read("blas", summary.blas);
  read("libtorch", summary.libtorch);
  read("edelta", summary.edelta);
  return summary;
}

const RunRecord& RunArchive::load(const train::TrainConfig& config) {
  const std::string name = run_name(config);
  auto& record = records_[name];
  if (record) return *record;
  record = std::make_unique<RunRecord>(RunRecord{name, config, std::nullopt, {}});
  const train::RunFolder run(folder_.run(name));
  if (run.exists() && run.finished() && same_run(run.read_config(), config)) {
    record->outcome = read_outcome(run);
    record->log = read_log(run);
  }
  return *record;
}

std::vector<const RunRecord*> RunArchive::runs(const TrainingTable& table, const Variant& variant) {
  std::vector<const RunRecord*> found;
  for (const uint64_t seed : manifest_.seeds) {
    found.push_back(&load(training_config(folder_, preset_, table, variant, seed)));
  }
  return found;
}

std::vector<const RunRecord*> RunArchive::finished(const TrainingTable& table,
                                                   const Variant& variant) {
  std::vector<const RunRecord*> found = runs(table, variant);
  std::erase_if(found, [](const RunRecord* record) { return !record->outcome; });
  return found;
}

}  // namespace edelta::reproduce
