#include "reproduce/operator_probes.h"

#include <fmt/format.h>

#include "edelta/models/architecture_options.h"
#include "edelta/models/registry.h"
#include "edelta/probes/probes.h"
#include "reproduce/statistics.h"

namespace edelta::reproduce {
namespace {

std::string operators_of(const std::string& run) { return "operators-" + run; }

bool has_operators(const models::ModelConfig& model) {
  return models::find_architecture(model.model).streams &&
         model.options.get<models::HybridOptions>().branch != geometry::Branch::none;
}

// Of each seed.
std::vector<double> product_errors(RunArchive& archive, const TrainingTable& table,
                                   const Variant& variant) {
  std::vector<double> errors;
  for (const RunRecord* run : archive.finished(table, variant)) {
    const auto operators =
        archive.measurement(operators_of(run->name), probes::operator_summaries_from_json);
    if (operators && !operators->empty()) errors.push_back(operators->back().orthogonality_error);
  }
  return errors;
}

}  // namespace

void plan_probed_trainings(const Experiment& experiment, Plan& plan, uint64_t seed) {
  for (const TrainingTable& table : experiment.trainings) {
    for (const Variant& variant : table.variants) {
      const Step run = plan.add_training(table, variant, seed);
      const Training& training = *run.training();
      if (!has_operators(training.config.model)) continue;
      plan.add_measurement(operators_of(run.name), ProbeOperators{training.folder}, /*seconds=*/2,
                           /*after=*/run.name);
    }
  }
}

void add_product_errors(RunArchive& archive, const TrainingTable& training, Table& table) {
  table.columns.insert(table.columns.end() - 1,
                       {"product_error", "‖PᵀP − I‖ of the product P of all operators"});
  for (size_t i = 0; i < table.rows.size(); ++i) {
    const auto error = statistics(product_errors(archive, training, training.variants[i]));
    if (error) table.rows[i].set("product_error", text_cell(fmt::format("{:.1e}", error->mean)));
  }
}

}  // namespace edelta::reproduce
