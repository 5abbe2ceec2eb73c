// edelta puzzles: makes folders of Sudoku, mazes and ARC's tasks for recursive models.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/notice.h"
#include "cli/print_json.h"
#include "cli/puzzles_progress.h"
#include "cli/stop_signal.h"
#include "data/puzzles/arc_build.h"
#include "data/puzzles/maze_build.h"
#include "data/puzzles/puzzle_files.h"
#include "data/puzzles/reflect_lite_build.h"
#include "data/puzzles/sudoku_build.h"
#include "edelta/base/error.h"

namespace edelta::cli {
namespace {

using nlohmann::ordered_json;
using Kinds = std::set<std::string>;

struct PuzzlesOptions {
  std::string kind, out, from, sample = "published";
  std::optional<int> size;
  std::int64_t train = 1000, test = 1000;
  std::optional<std::int64_t> aug, min_path;
  std::optional<int> min_givens, max_givens;
  std::int64_t min_rating = 0;
  std::optional<std::int64_t> max_rating;
  double loops = data::MazeOptions().loops;
  std::vector<std::string> subsets{"training", "evaluation", "concept"};
  std::vector<std::string> test_sets;
  bool unsolved = false;
  std::uint64_t seed = 0;
  bool force = false;
  bool json = false;
};

// Calls work(on_progress).
template <class Work>
auto with_progress(const Work& work) {
  PuzzlesProgress line;
  return work([&](const data::PuzzleProgress& progress) { line.show(progress); });
}

// The result: a line, or what was asked for and what came of it.
void report(const PuzzlesOptions& options, ordered_json written, const ordered_json& counts,
            const std::string& line) {
  if (!options.json) {
    fmt::print("{} in {}\n", line, options.out);
    return;
  }
  written.update(counts);
  written["folder"] = options.out;
  print_json(written);
}

void run_sudoku(const PuzzlesOptions& options) {
  const int size = options.size.value_or(9);
  data::sudoku_shape(size);  // before its difficulty is looked up
  data::SudokuDifficulty difficulty = data::default_difficulty(size);
  // One bound that is given alone takes the other along.
  difficulty.min_givens = options.min_givens.value_or(
      std::min(difficulty.min_givens, options.max_givens.value_or(difficulty.min_givens)));
  difficulty.max_givens =
      options.max_givens.value_or(std::max(difficulty.max_givens, difficulty.min_givens));
  difficulty.min_rating = options.min_rating;
  difficulty.max_rating = options.max_rating;
  const data::SudokuOptions sudoku{.size = size,
                                   .train = options.train,
                                   .test = options.test,
                                   .views = options.aug.value_or(0),
                                   .difficulty = difficulty,
                                   .seed = options.seed};
  data::validate(sudoku);
  data::SudokuCounts counts;
  const ordered_json asked = data::options_to_json(sudoku);
  with_progress([&](const data::OnPuzzleProgress& on_progress) {
    data::write_puzzle_folder(options.out, options.force, asked, [&](const auto& folder) {
      counts = data::write_sudoku(folder, sudoku, on_progress);
    });
  });
  report(options, asked,
         {{"train_examples", counts.train_examples},
          {"test_examples", counts.test_examples},
          {"mean_givens", counts.mean_givens},
          {"mean_rating", counts.mean_rating}},
         fmt::format("sudoku {}×{}: {} training and {} test examples, on average {:.1f} givens and "
                     "rating {:.1f},",
                     size, size, counts.train_examples, counts.test_examples, counts.mean_givens,
                     counts.mean_rating));
}

void run_maze(const PuzzlesOptions& options) {
  const int size = options.size.value_or(30);
  const data::MazeOptions maze{.size = size,
                               .train = options.train,
                               .test = options.test,
                               .views = options.aug.value_or(0),
                               .min_path = options.min_path.value_or(size),
                               .loops = options.loops,
                               .seed = options.seed};
  data::validate(maze);
  data::MazeCounts counts;
  const ordered_json asked = data::options_to_json(maze);
  with_progress([&](const data::OnPuzzleProgress& on_progress) {
    data::write_puzzle_folder(options.out, options.force, asked, [&](const auto& folder) {
      counts = data::write_mazes(folder, maze, on_progress);
    });
  });
  report(options, asked,
         {{"train_examples", counts.train_examples},
          {"test_examples", counts.test_examples},
          {"mean_path", counts.mean_path}},
         fmt::format("maze {}×{}: {} training and {} test examples, paths of {:.1f} steps on "
                     "average,",
                     size, size, counts.train_examples, counts.test_examples, counts.mean_path));
}

// The subsets that are tested: those that are named, or of the usual ones those that are there.
std::set<std::string> test_subsets(const PuzzlesOptions& options) {
  const std::set<std::string> subsets(options.subsets.begin(), options.subsets.end());
  if (subsets.size() != options.subsets.size()) throw InputError("--subsets has a name twice");
  if (options.test_sets.empty()) {
    std::set<std::string> usual;
    for (const char* name : {"evaluation", "evaluation2"}) {
      if (subsets.contains(name)) usual.insert(name);
    }
    if (usual.empty()) {
      throw InputError("--test-sets is needed: --subsets has no evaluation or evaluation2");
    }
    return usual;
  }
  for (const std::string& name : options.test_sets) {
    if (!subsets.contains(name)) {
      throw InputError(fmt::format("--test-sets has '{}', which is not among the subsets: {}", name,
                                   fmt::join(options.subsets, ", ")));
    }
  }
  return {options.test_sets.begin(), options.test_sets.end()};
}

data::ArcOptions arc_options(const PuzzlesOptions& options, std::int64_t views) {
  if (options.from.empty()) {
    throw InputError(
        "--from is needed: the folder with SUBSET_challenges.json and "
        "SUBSET_solutions.json");
  }
  return {.subsets = options.subsets,
          .test_subsets = test_subsets(options),
          .views = options.aug.value_or(views),
          .seed = options.seed,
          .unsolved = options.unsolved ? data::Unsolved::blank : data::Unsolved::refused};
}

ordered_json counts_to_json(const data::ArcCounts& counts) {
  return {{"tasks", counts.tasks},
          {"test_tasks", counts.test_tasks},
          {"train_puzzles", counts.train_puzzles},
          {"train_examples", counts.train_examples},
          {"test_puzzles", counts.test_puzzles},
          {"test_examples", counts.test_examples},
          {"puzzle_identifiers", counts.identifiers},
          {"tasks_with_fewer_views", counts.short_tasks}};
}

std::string counts_to_text(const data::ArcCounts& counts) {
  return fmt::format("{} tasks ({} tested), {} training and {} test examples of {} views",
                     counts.tasks, counts.test_tasks, counts.train_examples, counts.test_examples,
                     counts.identifiers - 1);
}

void run_arc(const PuzzlesOptions& options) {
  const data::ArcOptions arc = arc_options(options, 1000);
  std::vector<data::ArcTask> tasks = data::read_arc_tasks(options.from, arc);
  data::ArcCounts counts;
  const ordered_json asked = data::options_to_json(arc);
  with_progress([&](const data::OnPuzzleProgress& on_progress) {
    data::write_puzzle_folder(options.out, options.force, asked, [&](const auto& folder) {
      counts = data::write_arc(folder, std::move(tasks), arc, on_progress);
    });
  });
  if (counts.short_tasks > 0 && !options.json) {
    notice("note: {} tasks have fewer than {} different views\n", counts.short_tasks, arc.views);
  }
  report(options, asked, counts_to_json(counts), "arc: " + counts_to_text(counts));
}

void run_reflect_lite(const PuzzlesOptions& options) {
  const data::ArcOptions arc = arc_options(options, 128);
  const std::vector<data::ArcTask> tasks = data::read_arc_tasks(options.from, arc);
  const data::SliceSample sample =
      options.sample == "drawn" ? data::SliceSample::drawn : data::SliceSample::published;
  const data::ReflectLite selected = data::select_reflect_lite(tasks, sample, options.seed);
  const data::ReflectLiteCounts counts =
      with_progress([&](const data::OnPuzzleProgress& on_progress) {
        return data::write_reflect_lite(options.out, options.force, tasks, selected, arc,
                                        on_progress);
      });
  const std::int64_t reflect = selected.candidates(data::Slice::reflect);
  const std::int64_t control = selected.candidates(data::Slice::control);
  ordered_json asked = data::options_to_json(arc);
  asked["kind"] = "reflect-lite";
  asked["sample"] = options.sample;
  report(options, asked,
         {{"reflect_candidates", reflect},
          {"control_candidates", control},
          {"reflect", counts_to_json(counts.reflect)},
          {"control", counts_to_json(counts.control)}},
         fmt::format("reflect-lite: of {} tasks {} reflect and {} control candidates\n"
                     "reflect: {}\ncontrol: {}",
                     tasks.size(), reflect, control, counts_to_text(counts.reflect),
                     counts_to_text(counts.control)));
}

// Which kinds each option is for; the others are for all.
const std::map<std::string, Kinds>& kinds_of_options() {
  static const Kinds generated{"sudoku", "maze"}, arc{"arc", "reflect-lite"};
  static const std::map<std::string, Kinds> kinds{
      {"--size", generated},        {"--train", generated},
      {"--test", generated},        {"--min-givens", {"sudoku"}},
      {"--max-givens", {"sudoku"}}, {"--min-rating", {"sudoku"}},
      {"--max-rating", {"sudoku"}}, {"--min-path", {"maze"}},
      {"--loops", {"maze"}},        {"--from", arc},
      {"--subsets", arc},           {"--test-sets", arc},
      {"--unsolved", arc},          {"--sample", {"reflect-lite"}}};
  return kinds;
}

// An option that would have no effect was meant for something else.
void refuse_options_of_other_kinds(const CLI::App& command, const std::string& kind) {
  for (const auto& [name, kinds] : kinds_of_options()) {
    if (command.get_option(name)->count() == 0 || kinds.contains(kind)) continue;
    throw InputError(fmt::format("{} is for {}, not {}", name, fmt::join(kinds, " and "), kind));
  }
}

void run_puzzles(const CLI::App& command, const PuzzlesOptions& options) {
  refuse_options_of_other_kinds(command, options.kind);
  if (options.kind == "reflect-lite") {
    data::require_free_reflect_lite_folder(options.out, options.force);
  } else {
    data::require_free_puzzle_folder(options.out, options.force);
  }
  remember_signals({SIGINT, SIGTERM, SIGHUP}, NextSignal::is_remembered);
  if (options.kind == "sudoku") run_sudoku(options);
  if (options.kind == "maze") run_maze(options);
  if (options.kind == "arc") run_arc(options);
  if (options.kind == "reflect-lite") run_reflect_lite(options);
}

void add_generated(CLI::App& command, PuzzlesOptions& options) {
  const char* group = "Sudoku and mazes";
  const auto count = CLI::Range(std::int64_t{1}, std::int64_t{1000000000});
  command
      .add_option("--size", options.size, "Cells on a side: 4, 6 or 9 [9]; of mazes 5 to 30 [30]")
      ->group(group);
  command.add_option("--train", options.train, "Training puzzles, all different")
      ->capture_default_str()
      ->check(count)
      ->group(group);
  command.add_option("--test", options.test, "Test puzzles, none of them in training")
      ->capture_default_str()
      ->check(count)
      ->group(group);
  command
      .add_option("--min-givens", options.min_givens,
                  "Sudoku: digits given, at least [5 of 16, 12 of 36, 28 of 81]")
      ->group(group);
  command
      .add_option("--max-givens", options.max_givens,
                  "Sudoku: digits given, at most [7 of 16, 18 of 36, 36 of 81]")
      ->group(group);
  const auto rating = CLI::Range(std::int64_t{0}, std::int64_t{1000000000});
  command
      .add_option("--min-rating", options.min_rating,
                  "Sudoku: dead ends of the search that proves its solution the only one, at least")
      ->capture_default_str()
      ->check(rating)
      ->group(group);
  command.add_option("--max-rating", options.max_rating, "Sudoku: the same, at most [any]")
      ->check(rating)
      ->group(group);
  command
      .add_option("--min-path", options.min_path,
                  "Maze: steps from start to goal, at least [the size]")
      ->check(CLI::Range(1, 900))
      ->group(group);
  command
      .add_option("--loops", options.loops,
                  "Maze: share of the walls between two passages that are opened, 0 to 1")
      ->capture_default_str()
      ->group(group);
}

void add_arc(CLI::App& command, PuzzlesOptions& options) {
  const char* group = "ARC";
  command
      .add_option("--from", options.from,
                  "Folder with [PREFIX_]SUBSET_challenges.json and [PREFIX_]SUBSET_solutions.json")
      ->type_name("DIR")
      ->check(kNotEmpty)
      ->group(group);
  command
      .add_option("--subsets", options.subsets,
                  "Which of them, comma-separated [training,evaluation,concept]")
      ->type_name("NAMES")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(kNotEmpty)
      ->group(group);
  command
      .add_option("--test-sets", options.test_sets,
                  "Subsets whose test pairs are for testing [evaluation,evaluation2]; of others "
                  "all pairs are trained on")
      ->type_name("NAMES")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(kNotEmpty)
      ->group(group);
  command
      .add_flag("--unsolved", options.unsolved,
                "Take test sets without solutions, to predict them: [[0]] stands for each")
      ->group(group);
  command
      .add_option("--sample", options.sample,
                  "Tasks of reflect-lite's slices: the published list, or drawn where there are "
                  "more than 20")
      ->check(CLI::IsMember({"published", "drawn"}))
      ->capture_default_str()
      ->group(group);
}

}  // namespace

void add_puzzles(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "puzzles", "Make Sudoku, mazes or ARC's tasks into data for recursive models");
  auto options = std::make_shared<PuzzlesOptions>();
  command->add_option("KIND", options->kind, "What to make")
      ->required()
      ->check(CLI::IsMember({"sudoku", "maze", "arc", "reflect-lite"}));
  command->add_option("--out", options->out, "Folder to write to")
      ->type_name("DIR")
      ->required()
      ->check(kNotEmpty);
  command
      ->add_option("--aug", options->aug,
                   "Further views of each training puzzle: shuffled boards [0], mazes turned and "
                   "mirrored, at most 7 [0], ARC's tasks with other colours, turned and mirrored "
                   "[arc 1000, reflect-lite 128]")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1000000}));
  command->add_option("--seed", options->seed, "Seed of everything that is drawn")
      ->check(kSeed)
      ->capture_default_str();
  command->add_flag("--force", options->force, "Replace the puzzles that are there");
  command->add_flag("--json", options->json, "Print what was made as JSON");
  add_generated(*command, *options);
  add_arc(*command, *options);
  command->footer(
      "Folders have the published format: train/ and test/ with all__inputs.npy, all__labels.npy, "
      "the offsets\n"
      "of puzzles and groups, and dataset.json; beside them identifiers.json, of ARC "
      "test_puzzles.json. Every\n"
      "Sudoku has one solution, every maze one shortest path. What is trained on, its shuffled, "
      "turned and\n"
      "mirrored views included, has none of the solutions that are tested. The same options give "
      "the same bytes\n"
      "on every machine.\n"
      "reflect-lite writes two such folders, reflect and control, and reflect_lite.json, the list."
      "\n\nExamples:\n"
      "  edelta puzzles sudoku --size 4 --train 1000 --test 200 --out data/sudoku4\n"
      "  edelta puzzles sudoku --max-givens 26 --min-rating 10 --aug 100 --out data/hard\n"
      "  edelta puzzles maze --size 9 --train 5000 --aug 7 --out data/maze9\n"
      "  edelta puzzles arc --from arc/ --subsets training,evaluation --aug 100 --out data/arc\n"
      "  edelta puzzles reflect-lite --from arc/ --out data/reflect-lite");
  command->callback([command, options] { run_puzzles(*command, *options); });
}

}  // namespace edelta::cli
