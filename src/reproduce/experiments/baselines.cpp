// Baselines: what predictors without training reach on the tasks, beside the trained models.
#include "edelta/probes/baselines.h"

#include <fmt/format.h>

#include "reproduce/experiments/experiments.h"
#include "reproduce/plan.h"
#include "reproduce/run_archive.h"
#include "reproduce/statistics.h"
#include "reproduce/training_tables.h"

namespace edelta::reproduce {
namespace {

constexpr const char* kTasks[] = {"gyroscope", "stability", "near-pi", "near-pi-multi", "reversal"};

std::string baselines_name(const std::string& task) { return "baselines-" + task; }

void plan_baselines(const Experiment&, Plan& plan) {
  for (const char* const task : kTasks) {
    const nlohmann::json given{{"preset", plan.preset().train_preset}, {"task", task}};
    plan.add_measurement(baselines_name(task),
                         MeasureBaselines{*train::train_config_from_json(given, task).task},
                         /*seconds=*/3);
  }
}

// The trained models of the paper's tables on this task.
std::vector<TrainingTable> papers_tables(const std::string& task) {
  std::vector<TrainingTable> found;
  for (const Experiment& experiment : {main_experiment(), near_pi_experiment()}) {
    for (const TrainingTable& table : experiment.trainings) {
      if (table.task == task) found.push_back(table);
    }
  }
  return found;
}

// The smallest loss of the paper's table.
Cell lowest_in_the_paper(const std::string& task) {
  std::optional<PaperValue> lowest;
  for (const TrainingTable& table : papers_tables(task)) {
    for (const Variant& variant : table.variants) {
      if (variant.paper && (!lowest || variant.paper->mean < lowest->mean)) lowest = variant.paper;
    }
  }
  return paper_cell(lowest);
}

// The same of this suite's runs.
Cell lowest_here(RunArchive& archive, const std::string& task) {
  std::vector<double> lowest;
  for (const TrainingTable& table : papers_tables(task)) {
    for (const Variant& variant : table.variants) {
      const std::vector<double> losses = final_losses(archive.finished(table, variant));
      const auto mean = statistics(losses), least = statistics(lowest);
      if (mean && (!least || mean->mean < least->mean)) lowest = losses;
    }
  }
  return mean_cell(lowest);
}

std::vector<Table> baselines_tables(const Experiment& experiment, RunArchive& archive) {
  Table table{
      .id = experiment.name,
      .title = "Validation loss without training",
      .note =
          "Lowest: of gpt, ddl, mhc, jpmhc and edelta on that task, in the paper at its own sizes; "
          "of some of them the operator sees the future. The linear maps are those of least "
          "squares over the training sequences; before the first input there is 0."};
  Row paper{.label = "lowest in the paper"}, here{.label = "lowest here"};
  for (const char* const task : kTasks) {
    table.columns.push_back({task, task});
    const auto baselines = archive.measurement(baselines_name(task), probes::baselines_from_json);
    for (const probes::Baseline& each : baselines.value_or(std::vector<probes::Baseline>{})) {
      const auto known = std::ranges::find(table.rows, each.name, &Row::label);
      Row& row = known != table.rows.end() ? *known : table.rows.emplace_back(Row{each.name});
      row.set(task, each.loss);
    }
    paper.set(task, lowest_in_the_paper(task));
    here.set(task, lowest_here(archive, task));
  }
  table.rows.push_back(std::move(paper));
  table.rows.push_back(std::move(here));
  return {table};
}

}  // namespace

Experiment baselines_experiment() {
  return {.name = "baselines",
          .title = "What a model has to beat",
          .ours = true,
          .claim = "The paper compares trained architectures with each other.",
          .method =
              "The validation sequences are predicted without any training by steps: by zero, by "
              "the input again, by the mean of the inputs so far, and by one matrix that maps the "
              "input, or the last two, to the next.",
          .plan_once = plan_baselines,
          .tables = baselines_tables};
}

}  // namespace edelta::reproduce
