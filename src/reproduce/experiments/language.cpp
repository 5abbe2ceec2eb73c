// Language models: all architectures on one text, and two without their operators.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reproduce/experiments/comparison_verdict.h"
#include "reproduce/experiments/experiments.h"
#include "reproduce/experiments/own_study.h"
#include "reproduce/operator_probes.h"
#include "reproduce/suite_text.h"
#include "reproduce/training_figures.h"
#include "reproduce/training_tables.h"
#include "reproduce/wording.h"
#include "reproduce/write_samples.h"

namespace edelta::reproduce {
namespace {

constexpr const char* kPlain = "gpt";
constexpr const char* kHybrid = "edelta";
constexpr const char* kNoOperator = "edelta, no operator";

std::string samples_of(const std::string& run) { return "samples-" + run; }

void plan_language(const Experiment& experiment, Plan& plan, uint64_t seed) {
  plan_probed_trainings(experiment, plan, seed);
  for (const TrainingTable& table : experiment.trainings) {
    for (const Variant& variant : table.variants) {
      const Step run = plan.add_training(table, variant, seed);
      plan.add_measurement(samples_of(run.name), WriteSamples{run.training()->folder},
                           /*seconds=*/2, /*after=*/run.name);
    }
  }
}

std::string language_scope(const Experiment& experiment, const RunArchive& archive) {
  const TrainingTable& table = experiment.trainings.front();
  const SuiteManifest& manifest = archive.manifest();
  const train::TrainConfig config = training_config(archive.folder(), archive.preset(), table,
                                                    table.variants.front(), manifest.seeds.front());
  const std::string size = text_size(archive.folder());
  return fmt::format(
      "In this run: {}{}, {} iterations of {} windows of {} characters with {} (preset {}).",
      manifest.text.empty() ? "no text yet" : manifest.text,
      size.empty() ? "" : fmt::format(" ({})", size), config.train.iterations, config.train.batch,
      config.model.block_size, seeds_text(manifest.seeds), config.preset);
}

using Runs = std::vector<const RunRecord*>;

// Characters a second in the fastest of the runs, which others may have shared the machine with.
std::optional<double> fastest(const Runs& runs) {
  std::optional<double> most;
  for (const RunRecord* run : runs) {
    const train::Protocol& protocol = run->config.train;
    const auto tokens = static_cast<double>(protocol.iterations * protocol.batch *
                                            protocol.accumulate * run->config.model.block_size);
    if (run->outcome->seconds <= 0) continue;
    most = std::max(most.value_or(0), tokens / run->outcome->seconds);
  }
  return most;
}

std::vector<Table> language_tables(const Experiment& experiment, RunArchive& archive) {
  std::vector<Table> all;
  for (const TrainingTable& training : experiment.trainings) {
    Table table = training_table(archive, training);
    const auto final = std::find_if(table.columns.begin(), table.columns.end(),
                                    [](const Column& column) { return column.key == "final"; });
    table.columns.insert(final + 1, {"bits_per_byte", "bits per byte", false});
    add_product_errors(archive, training, table);
    table.columns.insert(table.columns.end() - 1,
                         {"speed", "characters/s in training, validation included"});
    for (size_t i = 0; i < table.rows.size(); ++i) {
      const Runs runs = archive.finished(training, training.variants[i]);
      table.rows[i].set("bits_per_byte", mean_cell(measured(runs, "bits_per_byte")));
      if (const auto speed = fastest(runs)) table.rows[i].set("speed", std::round(*speed));
    }
    table.note = comparison_verdict(
        archive, training,
        {kPlain, {{kHybrid, kNoOperator}, {"jpmhc", jpmhc_without_operator().label}}},
        "on this text, at this size");
    all.push_back(std::move(table));
  }
  return all;
}

std::vector<Figure> language_figures(const Experiment& experiment, RunArchive& archive) {
  return {dynamics_figure(experiment, archive), first_gates_figure(experiment, archive)};
}

// The first seed's.
std::vector<TextSample> language_samples(const Experiment& experiment, RunArchive& archive) {
  std::vector<TextSample> all;
  for (const TrainingTable& table : experiment.trainings) {
    for (const Variant& variant : table.variants) {
      const Runs runs = archive.finished(table, variant);
      if (runs.empty()) continue;
      const auto texts = archive.measurement(samples_of(runs.front()->name), samples_from_json);
      if (!texts) continue;
      for (size_t i = 0; i < texts->size(); ++i) {
        all.push_back({fmt::format("{}, sample {}", variant.label, i + 1), (*texts)[i]});
      }
    }
  }
  return all;
}

}  // namespace

Experiment language_experiment() {
  Experiment experiment{
      .name = "language",
      .title = "Language models",
      .ours = true,
      .claim = "The paper names language models as an application and has no numbers for them.",
      .method =
          "All architectures at their matched sizes learn to predict the next character of a text. "
          "They are causal: operators see the mean of the positions so far. The controls of "
          "the hybrid and of jpmhc are the same models without their operators. Losses are in nats "
          "a character, over the whole "
          "validation split, the last tenth of the text.",
      .plan_seed = plan_language,
      .scope = language_scope,
      .tables = language_tables,
      .figures = language_figures,
      .samples = language_samples};
  TrainingTable table{.id = "language-text",
                      .title = "Text: loss in nats a character",
                      .task = kText,
                      .variants = {},
                      .gates = true};
  for (const char* model : {kPlain, "ddl", "mhc", "jpmhc", kHybrid, "edelta-stream"}) {
    table.variants.push_back({.label = model, .model = model});
  }
  table.variants.push_back(jpmhc_without_operator());
  table.variants.push_back(edelta_with(kNoOperator, {{"branch", "none"}}));
  experiment.trainings = {table};
  return experiment;
}

}  // namespace edelta::reproduce
