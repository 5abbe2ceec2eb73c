// Matched configurations: the number of parameters of every architecture.
#include <fmt/format.h>

#include <map>

#include "edelta/models/parameter_count.h"
#include "reproduce/experiments/experiments.h"
#include "reproduce/plan.h"
#include "reproduce/run_archive.h"

namespace edelta::reproduce {
namespace {

constexpr const char* kConfigs = "configs";

const std::map<std::string, int64_t>& paper_counts() {
  static const std::map<std::string, int64_t> counts{{"gpt", 1780224},
                                                     {"ddl", 1783568},
                                                     {"mhc", 1838310},
                                                     {"jpmhc", 1770912},
                                                     {"edelta", 1787688}};
  return counts;
}

void plan_configs(const Experiment&, Plan& plan) {
  plan.add_measurement(kConfigs, CountParameters{}, /*seconds=*/1);
}

std::vector<Table> configs_tables(const Experiment&, RunArchive& archive) {
  Table table{.id = kConfigs,
              .title = "Matched configurations",
              .columns = {{"layers", "layers"},
                          {"width", "width D"},
                          {"paper", "parameters, paper"},
                          {"parameters", "parameters, here"}}};
  const auto counts = archive.measurement(kConfigs, models::parameter_counts_from_json);
  if (!counts) {
    table.verdict = Verdict{"not run", "nothing has been counted"};
    return {table};
  }
  size_t equal = 0, known = 0;
  for (const models::ParameterCount& count : *counts) {
    Row row{.label = count.model, .model = count.model};
    row.set("layers", static_cast<double>(count.n_layer));
    row.set("width", static_cast<double>(count.n_embd));
    row.set("parameters", static_cast<double>(count.parameters));
    const auto paper = paper_counts().find(count.model);
    if (paper != paper_counts().end()) {
      row.set("paper", static_cast<double>(paper->second));
      ++known;
      equal += count.parameters == paper->second ? 1 : 0;
    }
    table.rows.push_back(std::move(row));
  }
  table.verdict = Verdict{equal == paper_counts().size() ? "holds" : "does not hold",
                          fmt::format("{} of {} counts are the paper's exactly", equal, known)};
  return {table};
}

}  // namespace

Experiment configs_experiment() {
  return {
      .name = kConfigs,
      .title = "Matched configurations",
      .claim = "The five architectures are compared at nearly the same number of parameters.",
      .method = "Counted as the paper does: the token model with block 64, vocabulary 1, no bias.",
      .plan_once = plan_configs,
      .tables = configs_tables};
}

}  // namespace edelta::reproduce
