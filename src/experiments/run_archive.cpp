#include "experiments/run_archive.h"

#include "edelta/io/json.h"
#include "edelta/train/run_folder.h"

namespace edelta::experiments {

const RunRecord& RunArchive::load(const train::TrainConfig& config) {
  const std::string name = run_name(config);
  auto& record = records_[name];
  if (record) return *record;
  record = std::make_unique<RunRecord>(RunRecord{name, config, std::nullopt, {}});
  const train::RunFolder run(folder_.run(name));
  if (run.exists() && run.finished() && to_json(run.read_config()) == to_json(config)) {
    record->result = run.read_result();
    record->metrics = run.read_metrics();
  }
  return *record;
}

std::vector<const RunRecord*> RunArchive::runs(const TrainingTable& table, const Variant& variant) {
  std::vector<const RunRecord*> found;
  for (const uint64_t seed : manifest_.seeds) {
    found.push_back(&load(training_config(preset_, table, variant, seed)));
  }
  return found;
}

std::vector<const RunRecord*> RunArchive::finished(const TrainingTable& table,
                                                   const Variant& variant) {
  std::vector<const RunRecord*> found = runs(table, variant);
  std::erase_if(found, [](const RunRecord* record) { return !record->result; });
  return found;
}

std::optional<nlohmann::json> RunArchive::measurement(const std::string& name) const {
  const std::filesystem::path file = folder_.measurement(name);
  if (!std::filesystem::exists(file)) return std::nullopt;
  return io::read_json(file);
}

}  // namespace edelta::experiments
