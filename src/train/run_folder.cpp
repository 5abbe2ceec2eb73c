#include "edelta/train/run_folder.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/input_file.h"
#include "base/json.h"
#include "edelta/base/error.h"
#include "edelta/models/model_file.h"
#include "edelta/train/checkpoint.h"
#include "edelta/train/optimiser.h"

namespace edelta::train {
namespace {

constexpr size_t kLargestMetrics = size_t{4} << 30;

}  // namespace

void RunFolder::create(const TrainConfig& config) const {
  if (exists()) {
    throw InputError(fmt::format(
        "{}: a run is already there; continue it with --resume, or choose another folder",
        path_.string()));
  }
  base::make_folder(path_ / "checkpoint");
  base::write_json(config_file(), to_json(config));
}

TrainConfig RunFolder::read_config() const {
  if (!exists()) {
    throw InputError(fmt::format("{}: no run is there (it has no config.json)", path_.string()));
  }
  return train_config_from_json(base::read_json(config_file()), config_file().string());
}

nlohmann::json RunFolder::read_result() const { return base::read_json(result_file()); }

std::vector<nlohmann::json> RunFolder::read_metrics() const {
  std::vector<nlohmann::json> entries;
  if (!std::filesystem::exists(metrics_file())) return entries;
  const std::string text = base::read_text(metrics_file(), kLargestMetrics);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;  // cut off by a crash
    auto entry = nlohmann::json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                       text.begin() + static_cast<std::ptrdiff_t>(end), nullptr,
                                       /*allow_exceptions=*/false);
    if (!entry.is_object() || !entry.contains("iteration") ||
        !entry["iteration"].is_number_integer()) {
      throw InputError(fmt::format("{}: line {} is no metrics entry", metrics_file().string(),
                                   entries.size() + 1));
    }
    entries.push_back(std::move(entry));
    begin = end + 1;
  }
  return entries;
}

void RunFolder::truncate_metrics(int64_t iteration) const {
  if (!std::filesystem::exists(metrics_file())) return;
  const std::string text = base::read_text(metrics_file(), kLargestMetrics);
  std::string kept;
  size_t begin = 0;
  for (const nlohmann::json& entry : read_metrics()) {
    const size_t end = text.find('\n', begin) + 1;
    if (entry["iteration"].get<int64_t>() <= iteration) kept += text.substr(begin, end - begin);
    begin = end;
  }
  base::write_text_atomically(metrics_file(), kept);
}

std::shared_ptr<models::Model> load_run_model(const RunFolder& run, Which which) {
  const TrainConfig config = run.read_config();
  if (which == Which::best && std::filesystem::exists(run.best_folder())) {
    auto model = models::load_model(run.best_folder()).model;
    model->eval();
    return model;
  }
  auto model = models::make_model(config.model);
  AdamW optimiser(*model, config.train);
  models::State state;
  read_checkpoint(run.checkpoint_file(), *model, optimiser, state);
  model->eval();
  return model;
}

}  // namespace edelta::train
