// Recursive models on puzzles: what a mixer in place of the residual connection does, at the
// published sizes, which are unequal, and at matched ones.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "edelta/models/recursive.h"
#include "reproduce/curve.h"
#include "reproduce/experiments/comparison_verdict.h"
#include "reproduce/experiments/experiments.h"
#include "reproduce/solve_puzzle.h"
#include "reproduce/training_figures.h"
#include "reproduce/training_tables.h"
#include "reproduce/wording.h"

namespace edelta::reproduce {
namespace {

constexpr const char* kPlain = "none";
constexpr const char* kHybrid = "edelta";
constexpr const char* kNoOperator = "edelta, no operator";
constexpr const char* kMatchedEnding = "-matched";

using Runs = std::vector<const RunRecord*>;

std::string thought_of(const std::string& run) { return "solved-" + run; }

bool is_matched(const TrainingTable& table) { return table.id.ends_with(kMatchedEnding); }

void plan_puzzles(const Experiment& experiment, Plan& plan, uint64_t seed) {
  for (const TrainingTable& table : experiment.trainings) {
    for (const Variant& variant : table.variants) {
      const Step run = plan.add_training(table, variant, seed);
      plan.add_measurement(thought_of(run.name), SolvePuzzle{run.training()->folder},
                           /*seconds=*/1, /*after=*/run.name);
    }
  }
}

std::string puzzles_scope(const Experiment& experiment, const RunArchive& archive) {
  const std::vector<uint64_t>& seeds = archive.manifest().seeds;
  std::vector<std::string> parts;
  std::set<std::string> told;
  for (const TrainingTable& table : experiment.trainings) {
    if (!told.insert(table.task).second) continue;
    const train::TrainConfig config = training_config(archive.folder(), archive.preset(), table,
                                                      table.variants.front(), seeds.front());
    const data::PuzzleTask& puzzles = *config.recursive->puzzles;
    const std::string kind = table.short_title();
    parts.push_back(fmt::format("{} ({} puzzles in {} views each, D {}, {} iterations of {})",
                                kind.substr(0, kind.find(',')), puzzles.train, puzzles.views + 1,
                                config.recursive->model.hidden_size, config.train.iterations,
                                config.train.batch));
  }
  return fmt::format("In this run: {}, with {} (preset {}).", listed(parts), seeds_text(seeds),
                     archive.preset().name);
}

std::vector<double> percent(std::vector<double> shares) {
  for (double& share : shares) share *= 100;
  return shares;
}

// Puzzles a second in the fastest of the runs, which others may have shared the machine with.
std::optional<double> fastest(const Runs& runs) {
  std::optional<double> most;
  for (const RunRecord* run : runs) {
    if (run->outcome->seconds <= 0) continue;
    const auto steps = static_cast<double>(run->config.train.iterations * run->config.train.batch);
    most = std::max(most.value_or(0), steps / run->outcome->seconds);
  }
  return most;
}

Table puzzle_table(RunArchive& archive, const TrainingTable& training) {
  Table table{.id = training.id,
              .title = training.title,
              .columns = {{"solved", "puzzles solved, %"},
                          {"cells", "cells right, %"},
                          {"knows", "knows whether it is right, %"},
                          {"final", "cross-entropy of a cell"},
                          {"gamma", "final γ"},
                          {"speed", "puzzle steps/s in training, validation included"},
                          {"width", "D"},
                          {"parameters", "parameters"}},
              .note = comparison_verdict(archive, training, {kPlain, {{kHybrid, kNoOperator}}},
                                         "on these puzzles, at this size")};
  for (const Variant& variant : training.variants) {
    const Runs runs = archive.finished(training, variant);
    Row& row = table.rows.emplace_back(Row{.label = variant.label});
    const models::RecursiveConfig& model =
        archive.runs(training, variant).front()->config.recursive->model;
    row.set("width", static_cast<double>(model.hidden_size));
    if (runs.empty()) continue;
    row.set("solved", mean_cell(percent(measured(runs, "exact_accuracy"))));
    row.set("cells", mean_cell(percent(measured(runs, "accuracy"))));
    row.set("knows", mean_cell(percent(measured(runs, "q_halt_accuracy"))));
    row.set("final", mean_cell(final_losses(runs)));
    row.set("gamma", text_cell(final_gates(runs)));
    if (const auto speed = fastest(runs)) row.set("speed", std::round(*speed));
    row.set("parameters", runs.front()->outcome->parameters);
  }
  return table;
}

// What "only the mixer differs" means at the size that was published, for ARC.
Table published_sizes() {
  Table table{.id = "puzzles-sizes",
              .title = "The published models",
              .columns = {{"parameters", "parameters"}},
              .note =
                  "At D 512, counted: a mixer gives attention and SwiGLU a quarter of the "
                  "width, and so a fraction of the parameters."};
  for (const auto mixer : {models::Mixer::none, models::Mixer::jpmhc, models::Mixer::edelta}) {
    models::RecursiveConfig config;
    config.seq_len = 900;
    config.vocab_size = 12;
    config.mixer_type = mixer;
    Row& row = table.rows.emplace_back(Row{.label = enum_to_string(mixer)});
    row.set("parameters", static_cast<double>(models::count_parameters(config)));
  }
  return table;
}

std::vector<Table> puzzle_tables(const Experiment& experiment, RunArchive& archive) {
  std::vector<Table> tables{published_sizes()};
  for (const TrainingTable& training : experiment.trainings) {
    tables.push_back(puzzle_table(archive, training));
  }
  return tables;
}

std::vector<Figure> puzzle_figures(const Experiment& experiment, RunArchive& archive) {
  std::vector<Panel> panels;
  for (const TrainingTable& table : experiment.trainings) {
    panels.push_back(
        curves_panel(archive, table, &LoggedStep::exact_accuracy, {"share of puzzles solved"}));
    panels.push_back(
        curves_panel(archive, table, &LoggedStep::val_loss, {"validation loss", true}));
  }
  return {figure("puzzles-curves", "Puzzles: how they are learned",
                 "Share of the test puzzles that are solved, and validation loss: mean over seeds, "
                 "from the smallest to the largest as a band.",
                 std::move(panels)),
          first_gates_figure(experiment, archive)};
}

// The first test puzzle of each kind, by the models of equal size and the first seed.
std::vector<TextSample> puzzle_samples(const Experiment& experiment, RunArchive& archive) {
  std::vector<TextSample> all;
  for (const TrainingTable& table : experiment.trainings) {
    if (!is_matched(table)) continue;
    for (const Variant& variant : table.variants) {
      const Runs runs = archive.finished(table, variant);
      if (runs.empty()) continue;
      const auto thought =
          archive.measurement(thought_of(runs.front()->name), puzzle_thought_from_json);
      if (!thought) continue;
      all.push_back({fmt::format("{}, {}", table.short_title(), variant.label), drawn(*thought)});
    }
  }
  return all;
}

// A kind of puzzle, and what tells its cells apart.
struct Kind {
  const char *preset, *title;
  // With learned positions attention learns a Sudoku's rows, columns and boxes many times sooner;
  // with rotary ones, a maze's neighbours.
  const char* positions;
};
constexpr Kind kKinds[] = {{"sudoku4", "Sudoku 4×4", "learned"},
                           {"sudoku6", "Sudoku 6×6", "learned"},
                           {"maze", "Maze", "rope"}};

Variant recursive(const Kind& kind, const std::string& label, const nlohmann::json& settings) {
  nlohmann::json all{{"mlp_t", false}, {"pos_encodings", kind.positions}};
  all.update(settings);
  return {.label = label, .model = "trm", .settings = all};
}

std::vector<Variant> mixers(const Kind& kind, bool matched) {
  std::vector<Variant> variants{
      recursive(kind, "jpmhc", {{"mixer_type", "jpmhc"}}),
      recursive(kind, "edelta, published start",
                {{"mixer_type", "edelta"}, {"mixer_init", "published"}}),
      recursive(kind, kHybrid, {{"mixer_type", "edelta"}}),
      recursive(kind, kNoOperator, {{"mixer_type", "edelta"}, {"mixer_operator", false}})};
  for (Variant& variant : variants) variant.matched = matched;
  variants.insert(variants.begin(), recursive(kind, kPlain, nlohmann::json::object()));
  return variants;
}

TrainingTable one_width(const Kind& kind) {
  TrainingTable table{.id = std::string("puzzles-") + kind.preset,
                      .title = std::string(kind.title) + ": one width",
                      .task = kind.preset,
                      .variants = mixers(kind, /*matched=*/false),
                      .puzzles = true};
  table.variants.insert(
      table.variants.begin() + 1,
      {.label = "none, MLP over positions", .model = "trm", .settings = {{"mlp_t", true}}});
  return table;
}

TrainingTable one_size(const Kind& kind) {
  return {.id = std::string("puzzles-") + kind.preset + kMatchedEnding,
          .title = std::string(kind.title) + ", matched: one number of parameters",
          .task = kind.preset,
          .variants = mixers(kind, /*matched=*/true),
          .puzzles = true};
}

}  // namespace

Experiment puzzles_experiment() {
  Experiment experiment{
      .name = "puzzles",
      .title = "Recursive models on puzzles",
      .ours = true,
      .claim =
          "The paper has no numbers for them. Its repository puts JPmHC and EΔ into the Tiny "
          "Recursive Model, for ARC, and says that only the mixer differs.",
      .method =
          "The recursive model without a mixer, with JPmHC, with EΔ as published, with a start at "
          "which its rotation can learn, and with its routes alone learn Sudoku and mazes, at one "
          "width, as published, and at one number of parameters. Test puzzles have solutions that "
          "do not occur in training. Expected beforehand: that at one width the mixers lose, for "
          "they have a fraction of the parameters; that at one size the routes matter and the "
          "operator does not, for nothing ties a reflection of channels to a mirrored grid, or a "
          "rotation of streams to a turned one; that the published start, whose rotation never "
          "gets a gradient, is no better than the routes alone.",
      .plan_seed = plan_puzzles,
      .scope = puzzles_scope,
      .tables = puzzle_tables,
      .figures = puzzle_figures,
      .samples = puzzle_samples};
  for (const Kind& kind : kKinds) {
    experiment.trainings.push_back(one_width(kind));
    experiment.trainings.push_back(one_size(kind));
  }
  return experiment;
}

}  // namespace edelta::reproduce
