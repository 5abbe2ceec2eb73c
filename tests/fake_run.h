// What a training leaves in a run folder, made up.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "base/json.h"
#include "edelta/train/run_folder.h"
#include "train/metrics.h"

namespace edelta::test {

// Writes metrics.jsonl; the sum of its last line.
inline std::string fake_metrics(const train::RunFolder& run,
                                const std::vector<nlohmann::ordered_json>& entries) {
  train::MetricsLog log(run.metrics_file(), "");
  for (const auto& entry : entries) log.add(entry);
  return log.sum();
}

// Writes result.json with these entries and what belongs to every one.
inline void fake_result(const train::RunFolder& run, nlohmann::ordered_json result,
                        const std::string& metrics_sum) {
  const train::RunManifest manifest = run.read_manifest();
  result["iterations"] = manifest.config.train.iterations;
  result[train::kRunIdKey] = manifest.id;
  result["metrics_sum"] = metrics_sum;
  base::write_json(run.result_file(), base::sealed(result));
}

}  // namespace edelta::test
