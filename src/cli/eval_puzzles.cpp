#include "cli/eval_puzzles.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/input_file.h"
#include "base/json.h"
#include "cli/new_file.h"
#include "cli/print_json.h"
#include "cli/progress_line.h"
#include "cli/table.h"
#include "data/data_kind.h"
#include "data/puzzles/arc_build.h"
#include "data/puzzles/arc_sequence.h"
#include "data/puzzles/arc_vote.h"
#include "data/puzzles/puzzle_files.h"
#include "edelta/base/error.h"
#include "edelta/train/puzzle_evaluation.h"

namespace edelta::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::array kRanks{1, 2, 5, 10, 100, 1000};  // of pass@K, as published

void require_fits(const data::PuzzleInfo& info, const models::RecursiveConfig& model) {
  const auto compare = [](const char* what, std::int64_t found, std::int64_t own) {
    if (found == own) return;
    throw InputError(
        fmt::format("the puzzles have {} {}; the model was trained on {}", found, what, own));
  };
  compare("cells", info.seq_len, model.seq_len);
  compare("tokens", info.vocab_size, model.vocab_size);
  compare("identifiers", info.num_puzzle_identifiers, model.num_puzzle_identifiers);
}

// A vector was learnt for each name; puzzles of other names would get those of strangers.
void require_same_names(const std::filesystem::path& folder, const data::Identity& learnt,
                        const models::RecursiveConfig& model) {
  const auto own = learnt.find(data::kIdentifiersFile);
  if (model.num_puzzle_identifiers <= 1 || own == learnt.end()) return;
  const std::filesystem::path names = folder / data::kIdentifiersFile;
  if (base::is_there(names) && data::identify_file(names) == own->second) return;
  throw InputError(fmt::format(
      "{}: its puzzles have other names than those that the run has learnt a vector for",
      names.string()));
}

// Where the folder has ARC's tasks, and its tests are asked for.
std::optional<data::ArcVotes> votes_on(const std::filesystem::path& folder,
                                       const data::PuzzleData& puzzles,
                                       const PuzzleEvalOptions& options) {
  const std::filesystem::path tasks = folder / data::kTestPuzzlesFile;
  const data::PuzzleInfo& info = puzzles.test.info;
  const bool arc = info.seq_len == data::kArcCells && info.vocab_size == data::kArcVocab &&
                   base::is_there(tasks) && !puzzles.identifiers.empty();
  if (!arc || options.split != train::Split::val) {
    if (options.submission.empty()) return std::nullopt;
    throw InputError("--submission goes with the test puzzles of ARC");
  }
  return data::ArcVotes(puzzles.identifiers, data::read_test_puzzles(tasks),
                        static_cast<std::int32_t>(info.blank_identifier_id));
}

void vote(const models::PuzzleBatch& batch, const models::PuzzleOutput& output,
          data::ArcVotes& votes) {
  const torch::Tensor inputs = batch.inputs.contiguous();
  const torch::Tensor answers = output.predictions.to(torch::kInt32).contiguous();
  const torch::Tensor beliefs = output.q_halt.to(torch::kFloat64).contiguous();
  const auto cells = static_cast<size_t>(inputs.size(1));
  for (std::int64_t row = 0; row < inputs.size(0); ++row) {
    const auto at = [&](const torch::Tensor& tokens) {
      return std::span(tokens.data_ptr<std::int32_t>() + row * tokens.size(1), cells);
    };
    votes.add(static_cast<std::int32_t>(batch.identifiers[row].item<std::int64_t>()), at(inputs),
              at(answers), beliefs.data_ptr<double>()[row]);
  }
}

ordered_json to_json(const train::PuzzleScore& score) {
  return {{"loss", score.loss},
          {"accuracy", score.accuracy},
          {"exact_accuracy", score.exact_accuracy},
          {"q_halt_accuracy", score.q_halt_accuracy}};
}

ordered_json to_json(const train::PuzzleEvaluation& evaluation) {
  ordered_json steps = ordered_json::array();
  for (const train::PuzzleScore& score : evaluation.after) {
    ordered_json row{{"steps", steps.size() + 1}};
    row.update(to_json(score));
    steps.push_back(row);
  }
  return steps;
}

void print_table(const train::PuzzleEvaluation& evaluation) {
  Table table({{"steps", Align::right},
               {"loss", Align::right},
               {"cells right", Align::right},
               {"puzzles solved", Align::right},
               {"halting right", Align::right}});
  const auto percent = [](double share) { return fmt::format("{:.2f} %", 100 * share); };
  for (size_t i = 0; i < evaluation.after.size(); ++i) {
    const train::PuzzleScore& score = evaluation.after[i];
    table.add({std::to_string(i + 1), fmt::format("{:.4e}", score.loss), percent(score.accuracy),
               percent(score.exact_accuracy), percent(score.q_halt_accuracy)});
  }
  fmt::print("{}", table.text());
}

}  // namespace

void eval_puzzles(const RunOptions& run, const PuzzleEvalOptions& options) {
  if (!options.submission.empty()) require_new(options.submission, options.force);
  const train::RunManifest manifest = run.folder().read_manifest();
  const auto model = load_recursive_run(run.folder(), run.weights());
  const std::filesystem::path folder = run.data.empty() ? run_puzzle_folder(run.folder(), manifest)
                                                        : std::filesystem::path(run.data);
  data::require_kind(folder, data::DataKind::puzzles);
  const data::PuzzleData puzzles = data::read_puzzle_data(folder);
  require_fits(puzzles.train.info, model->config());
  if (!run.data.empty()) require_same_names(folder, manifest.data_files, model->config());
  std::optional<data::ArcVotes> votes = votes_on(folder, puzzles, options);

  ProgressLine progress;
  train::PuzzleEvaluationOptions watching;
  watching.on_batch = [&](std::int64_t done, std::int64_t all) {
    progress.show({fmt::format("{} of {} puzzles", done, all)});
  };
  if (votes) {
    watching.on_answers = [&](const models::PuzzleBatch& batch,
                              const models::PuzzleOutput& output) { vote(batch, output, *votes); };
  }
  const bool test = options.split == train::Split::val;
  const bool scored = !test || !data::lacks_solutions(folder);
  const train::PuzzleEvaluation evaluation =
      evaluate_puzzles(*model, test ? puzzles.test : puzzles.train, watching);
  progress.erase();
  if (!options.submission.empty()) base::write_json(options.submission, votes->submission());

  ordered_json pass = ordered_json::object();
  for (const int k : kRanks) {
    if (votes && scored) pass[std::to_string(k)] = votes->pass_at(k);
  }
  if (run.json) {
    ordered_json out{{"run", run.run},
                     {"weights", run.which},
                     {"split", test ? "val" : "train"},
                     {"puzzles", evaluation.puzzles}};
    if (scored) {
      const train::PuzzleScore& last = evaluation.after.back();
      out["loss"] = last.loss;
      out["measures"] = to_json(last);
      out["measures"].erase("loss");
      out["steps"] = to_json(evaluation);
      if (votes) out["pass_at"] = pass;
    } else {
      out["unsolved"] = true;
    }
    if (!options.submission.empty()) out["submission"] = options.submission;
    print_json(out);
    return;
  }
  fmt::print("{} puzzles of the {} split\n", evaluation.puzzles, test ? "test" : "training");
  if (scored) {
    print_table(evaluation);
  } else {
    fmt::print("not all of them have a solution here: there is nothing to score\n");
  }
  for (const auto& [k, share] : pass.items()) {
    fmt::print("pass@{}: {:.2f} %\n", k, 100 * share.get<double>());
  }
  if (!options.submission.empty()) fmt::print("the first two answers: {}\n", options.submission);
}

}  // namespace edelta::cli
