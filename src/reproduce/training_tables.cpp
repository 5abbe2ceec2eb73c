#include "reproduce/training_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "edelta/models/registry.h"
#include "reproduce/statistics.h"
#include "reproduce/wording.h"

namespace edelta::reproduce {
namespace {

using Runs = std::vector<const RunRecord*>;

bool sees_future(const models::ModelConfig& model) {
  return !models::find_architecture(model.model).causal(model);
}

std::optional<double> mean_of(const std::vector<double>& values) {
  const auto result = statistics(values);
  return result ? std::optional(result->mean) : std::nullopt;
}

// Over the batches that were logged in the last tenth of the iterations; nothing where the run was
// kept without its metrics.
std::optional<double> training_loss(const RunRecord& run) {
  const int64_t iterations = run.config.train.iterations;
  std::vector<double> losses;
  for (const LoggedStep& step : run.log) {
    if (step.train_loss && step.iteration > iterations - iterations / 10) {
      losses.push_back(*step.train_loss);
    }
  }
  return mean_of(losses);
}

std::vector<double> training_losses(const Runs& runs) {
  std::vector<double> losses;
  for (const RunRecord* run : runs) {
    if (const auto loss = training_loss(*run)) losses.push_back(*loss);
  }
  return losses;
}

std::vector<double> best_losses(const Runs& runs) {
  std::vector<double> losses;
  for (const RunRecord* run : runs) losses.push_back(run->outcome->best_val_loss);
  return losses;
}

// The first validation after which the loss stays below half of what predicting zero gives: the
// tasks' vectors have length 1. Nothing where it never does.
std::optional<int64_t> plateau_left(const RunRecord& run) {
  const double half = 0.5 / static_cast<double>(run.config.task->dim);
  std::optional<int64_t> left;
  for (const LoggedStep& step : run.log) {
    if (!step.val_loss) continue;
    if (*step.val_loss >= half) {
      left.reset();
    } else if (!left) {
      left = step.iteration;
    }
  }
  return left;
}

bool has_validations(const RunRecord& run) {
  return std::ranges::any_of(run.log,
                             [](const LoggedStep& step) { return step.val_loss.has_value(); });
}

// "450", "400–700", "never" or "400–never"; empty where the runs were kept without their metrics.
std::string plateau_text(const Runs& runs) {
  std::vector<int64_t> left;
  bool never = false;
  for (const RunRecord* run : runs) {
    if (!has_validations(*run)) continue;
    const auto iteration = plateau_left(*run);
    iteration ? left.push_back(*iteration) : void(never = true);
  }
  if (left.empty()) return never ? "never" : "";
  const auto [least, most] = std::minmax_element(left.begin(), left.end());
  const std::string last = never ? "never" : std::to_string(*most);
  const std::string first = std::to_string(*least);
  return first == last ? first : first + "–" + last;
}

std::vector<Column> columns(const TrainingTable& training, bool compared) {
  std::vector<Column> list;
  if (compared) list.push_back({"paper", "paper", false});
  if (training.training_loss) list.push_back({"training", "training loss", false});
  list.push_back({"best", "best", false});
  list.push_back({"final", "final", false});
  if (compared) {
    list.push_back({"ratio", "final / paper"});
    list.push_back({"paper_rank", "rank in the paper"});
  }
  list.push_back({"rank", "rank"});
  if (training.plateau) list.push_back({"plateau", "plateau left at"});
  if (training.gates && compared) list.push_back({"paper_gamma", "final γ in the paper"});
  if (training.gates) list.push_back({"gamma", "final γ"});
  list.push_back({"parameters", "parameters"});
  return list;
}

Row variant_row(const TrainingTable& training, const Variant& variant, const Runs& all,
                const Runs& finished) {
  Row row{.label = variant.label,
          .model = variant.label == variant.model ? variant.model : "",
          .sees_future = sees_future(all.front()->config.model)};
  row.set("paper", paper_cell(variant.paper));
  if (training.training_loss) row.set("training", mean_cell(training_losses(finished)));
  row.set("best", mean_cell(best_losses(finished)));
  row.set("final", mean_cell(final_losses(finished)));
  if (variant.paper && !finished.empty()) {
    row.set("ratio", *mean_of(final_losses(finished)) / variant.paper->mean);
  }
  if (training.plateau) row.set("plateau", text_cell(plateau_text(finished)));
  if (training.gates) {
    row.set("paper_gamma", text_cell(variant.paper_gamma));
    row.set("gamma", text_cell(final_gates(finished)));
  }
  if (!finished.empty()) row.set("parameters", finished.front()->outcome->parameters);
  return row;
}

void set_ranks(std::vector<Row>& rows, const std::string& key,
               const std::vector<std::optional<double>>& values) {
  const std::vector<Cell> cells = ranks(values);
  for (size_t i = 0; i < rows.size(); ++i) rows[i].set(key, cells[i]);
}

}  // namespace

Table training_table(RunArchive& archive, const TrainingTable& training) {
  const bool compared = std::any_of(training.variants.begin(), training.variants.end(),
                                    [](const Variant& variant) { return variant.paper; });
  Table table{.id = training.id,
              .title = training.title,
              .unit = training.scale == 1
                          ? ""
                          : fmt::format("×1e{}", std::lround(std::log10(training.scale))),
              .scale = training.scale,
              .columns = columns(training, compared),
              .note = training.note};
  std::vector<ComparedRow> compared_rows;
  std::vector<std::optional<double>> paper, ours;
  for (const Variant& variant : training.variants) {
    const Runs finished = archive.finished(training, variant);
    table.rows.push_back(variant_row(training, variant, archive.runs(training, variant), finished));
    ours.push_back(mean_of(final_losses(finished)));
    paper.push_back(variant.paper ? std::optional(variant.paper->mean) : std::nullopt);
    if (variant.paper) compared_rows.push_back({variant.label, *variant.paper, ours.back()});
  }
  set_ranks(table.rows, "paper_rank", paper);
  set_ranks(table.rows, "rank", ours);
  if (compared) {
    table.verdict =
        archive.preset().comparable ? judge(compared_rows, kLossTolerance) : not_comparable();
  }
  return table;
}

void plan_trainings(const Experiment& experiment, Plan& plan, uint64_t seed) {
  for (const TrainingTable& table : experiment.trainings) {
    for (const Variant& variant : table.variants) plan.add_training(table, variant, seed);
  }
}

std::string training_scope(const Experiment& experiment, const RunArchive& archive) {
  std::vector<std::string> models, tasks;
  const auto add_new = [](std::vector<std::string>& list, const std::string& item) {
    if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
  };
  for (const TrainingTable& table : experiment.trainings) {
    add_new(tasks, table.task);
    for (const Variant& variant : table.variants) add_new(models, variant.model);
  }
  const SuitePreset& preset = archive.preset();
  const std::vector<uint64_t>& seeds = archive.manifest().seeds;
  const TrainingTable& first = experiment.trainings.front();
  return fmt::format(
      "In this run: {} on {}, {} iterations with {} (preset {}).", listed(models), listed(tasks),
      training_config(archive.folder(), preset, first, first.variants.front(), seeds.front())
          .train.iterations,
      seeds_text(seeds), preset.name);
}

std::vector<Table> training_tables(const Experiment& experiment, RunArchive& archive) {
  std::vector<Table> tables;
  for (const TrainingTable& training : experiment.trainings) {
    tables.push_back(training_table(archive, training));
  }
  return tables;
}

std::vector<double> final_losses(const Runs& runs) {
  std::vector<double> losses;
  for (const RunRecord* run : runs) losses.push_back(run->outcome->final_val_loss);
  return losses;
}

std::vector<double> measured(const Runs& runs, const std::string& measure) {
  std::vector<double> values;
  for (const RunRecord* run : runs) {
    const auto found = run->outcome->measures.find(measure);
    if (found != run->outcome->measures.end()) values.push_back(found->second);
  }
  return values;
}

std::string final_gates(const Runs& runs) {
  std::vector<double> gates;
  for (const RunRecord* run : runs) {
    const auto last = std::find_if(run->log.rbegin(), run->log.rend(),
                                   [](const LoggedStep& step) { return !step.gamma.empty(); });
    if (last == run->log.rend()) continue;
    gates.insert(gates.end(), last->gamma.begin(), last->gamma.end());
  }
  if (gates.empty()) return "";
  const auto [least, most] = std::minmax_element(gates.begin(), gates.end());
  return fmt::format("{:.3f}–{:.3f}, mean {:.3f}", *least, *most, statistics(gates)->mean);
}

std::vector<Variant> five() {
  std::vector<Variant> variants;
  for (const char* const model : {"gpt", "ddl", "mhc", "jpmhc", "edelta"}) {
    variants.push_back({.label = model, .model = model});
  }
  return variants;
}

std::vector<Variant> five(const std::vector<PaperValue>& paper) {
  std::vector<Variant> variants = five();
  for (size_t i = 0; i < variants.size(); ++i) variants[i].paper = paper.at(i);
  return variants;
}

}  // namespace edelta::reproduce
