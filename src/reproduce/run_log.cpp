#include "reproduce/run_log.h"

#include <nlohmann/json.hpp>

#include "base/required_fields.h"

namespace edelta::reproduce {

using nlohmann::json;

RunLog read_log(const train::RunFolder& run) {
  RunLog log;
  const std::vector<json> entries = run.read_metrics();
  with_source(run.metrics_file().string(), [&] {
    for (const json& entry : entries) {
      LoggedStep& step = log.emplace_back();
      step.iteration = entry["iteration"].get<int64_t>();
      const auto read = [&](const char* key, std::optional<double>& field) {
        if (entry.contains(key)) field = base::required_number(entry, key);
      };
      read("train_loss", step.train_loss);
      read("val_loss", step.val_loss);
      read("gradient_norm", step.gradient_norm);
      read("bits_per_byte", step.bits_per_byte);
      read("exact_accuracy", step.exact_accuracy);
      if (entry.contains("gamma")) step.gamma = base::required_numbers(entry, "gamma");
    }
  });
  return log;
}

std::map<double, double> logged(const RunLog& log, LoggedQuantity quantity) {
  std::map<double, double> values;
  for (const LoggedStep& step : log) {
    if (step.*quantity) values[static_cast<double>(step.iteration)] = *(step.*quantity);
  }
  return values;
}

}  // namespace edelta::reproduce
