#include "data/puzzles/arc_build.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/atomic_file.h"
#include "base/json.h"
#include "data/puzzles/arc_sequence.h"
#include "data/puzzles/arc_view.h"
#include "data/puzzles/arc_vote.h"
#include "edelta/base/error.h"
#include "expect_error.h"
#include "temporary_folder.h"

namespace edelta::data {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::expect_error;
using test::TemporaryFolder;

const char* const kTraining = R"({
  "t1": {"train": [{"input": [[1, 2], [3, 0]], "output": [[5]]},
                   {"input": [[4, 4, 1]], "output": [[1, 2, 3], [4, 5, 6]]}],
         "test": [{"input": [[7, 8]]}]},
  "empty": {"train": [{"input": [[0]], "output": [[0, 0], [0, 0]]}], "test": [{"input": [[0]]}]}})";
const char* const kTrainingSolutions = R"({"t1": [[[8], [7]]], "empty": [[[0]]]})";
const char* const kEvaluation = R"({
  "e1": {"train": [{"input": [[1, 2, 3]], "output": [[3, 2, 1]]}],
         "test": [{"input": [[4, 5]]}, {"input": [[6], [7]]}]}})";
const char* const kEvaluationSolutions = R"({"e1": [[[5, 4]], [[7], [6]]]})";

class ArcFiles {
 public:
  ArcFiles() {
    write("x_training_challenges.json", kTraining);
    write("x_training_solutions.json", kTrainingSolutions);
    write("x_evaluation_challenges.json", kEvaluation);
    write("x_evaluation_solutions.json", kEvaluationSolutions);
  }
  void write(const std::string& name, const std::string& text) const {
    base::write_text_atomically(folder_ / name, text);
  }
  const fs::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

ArcOptions small_options() {
  return {.subsets = {"training", "evaluation"},
          .test_subsets = {"evaluation"},
          .views = 30,
          .seed = 5};
}

// A grid of 30 × 30 tokens, taken apart by its colours alone.
struct Placed {
  Grid grid;
  int row = 0, column = 0;
};
Placed placed(const std::vector<std::int32_t>& tokens) {
  Placed found{{}, kArcSide, kArcSide};
  int below = 0, right = 0;
  for (int i = 0; i < kArcCells; ++i) {
    if (tokens[i] < kArcFirstColour) continue;
    found.row = std::min(found.row, i / kArcSide);
    found.column = std::min(found.column, i % kArcSide);
    below = std::max(below, i / kArcSide + 1);
    right = std::max(right, i % kArcSide + 1);
  }
  found.grid.rows = below - found.row;
  found.grid.columns = right - found.column;
  for (int i = found.row; i < below; ++i) {
    for (int j = found.column; j < right; ++j) {
      found.grid.cells.push_back(static_cast<std::uint8_t>(tokens[i * kArcSide + j] - 2));
    }
  }
  return found;
}

TEST(ArcBuild, EveryExampleIsAViewOfItsPair) {
  const ArcFiles files;
  const ArcOptions options = small_options();
  const TemporaryFolder folder;
  const auto tasks = read_arc_tasks(files.path(), options);
  const ArcCounts counts = write_arc(folder.path(), tasks, options, {});
  const PuzzleData data = read_puzzle_data(folder.path());
  EXPECT_EQ(counts.tasks, 3);
  EXPECT_EQ(counts.test_tasks, 1);
  EXPECT_EQ(counts.short_tasks, 1);  // the one that is black looks the same in every colour
  EXPECT_EQ(counts.train_examples, data.train.sets[0].examples());
  EXPECT_EQ(data.train.info.vocab_size, 12);
  EXPECT_EQ(data.train.info.seq_len, 900);
  EXPECT_EQ(data.train.sets[0].groups(), 3);
  EXPECT_EQ(data.test.sets[0].groups(), 1);
  EXPECT_EQ(data.test.sets[0].puzzles(), 31);
  EXPECT_EQ(data.test.sets[0].examples(), 62);

  // The pairs that each split shall have of a task.
  std::map<std::string, std::vector<ArcPair>> trained, tested;
  for (const ArcTask& task : tasks) {
    trained[task.id] = task.train;
    auto& of_test = task.id == "e1" ? tested[task.id] : trained[task.id];
    of_test.insert(of_test.end(), task.test.begin(), task.test.end());
  }
  int moved = 0;
  std::set<int> rows;
  const auto look = [&](const PuzzleSplit& split, const auto& expected, bool may_move) {
    const PuzzleSet& set = split.sets[0];
    std::vector<std::int32_t> input(900), labels(900);
    for (std::int64_t puzzle = 0; puzzle < set.puzzles(); ++puzzle) {
      const NamedView named = parse_view_name(data.identifiers[set.identifier(puzzle)]);
      const auto& pairs = expected.at(named.task);
      const auto [begin, end] = set.examples_of(puzzle);
      ASSERT_EQ(end - begin, std::ssize(pairs));
      int unmoved = 0;
      for (std::int64_t i = begin; i < end; ++i) {
        set.copy_inputs(i, input);
        set.copy_labels(i, labels);
        for (std::int32_t& label : labels) label = std::max(label, 0);
        const Placed in = placed(input), out = placed(labels);
        EXPECT_EQ(as_before(named.view, in.grid), pairs[i - begin].input);
        EXPECT_EQ(as_before(named.view, out.grid), pairs[i - begin].output);
        EXPECT_EQ(in.row, out.row);
        EXPECT_EQ(in.column, out.column);
        const auto again = arc_sequence(in.grid, in.row, in.column);
        EXPECT_TRUE(std::equal(again.begin(), again.end(), input.begin()));  // ends are marked
        unmoved += in.row == 0 && in.column == 0;
        moved += in.row != 0 || in.column != 0;
        rows.insert(in.row);
      }
      EXPECT_GE(unmoved, 1);
      EXPECT_TRUE(may_move || unmoved == end - begin);
    }
  };
  look(data.train, trained, true);
  EXPECT_GT(moved, 30);
  EXPECT_GT(rows.size(), 15u);
  look(data.test, tested, false);

  // The first view of a group is the task itself, and no two are equal.
  EXPECT_EQ(std::set(data.identifiers.begin(), data.identifiers.end()).size(),
            data.identifiers.size());
  for (std::int64_t group = 0; group < 3; ++group) {
    const auto first = data.train.sets[0].puzzles_of(group).begin;
    const std::string name = data.identifiers[data.train.sets[0].identifier(first)];
    EXPECT_EQ(name.find(kViewSeparator), std::string::npos) << name;
  }
  const auto test_puzzles = read_test_puzzles(folder / "test_puzzles.json");
  ASSERT_EQ(test_puzzles.size(), 1u);
  EXPECT_EQ(test_puzzles.at("e1").test[1].output, (Grid{2, 1, {7, 6}}));

  // Labels as predictions are all right, whatever the view.
  ArcVotes votes(data.identifiers, test_puzzles, 0);
  std::vector<std::int32_t> input(900), labels(900);
  const PuzzleSet& set = data.test.sets[0];
  for (std::int64_t puzzle = 0; puzzle < set.puzzles(); ++puzzle) {
    for (auto [i, end] = set.examples_of(puzzle); i < end; ++i) {
      set.copy_inputs(i, input);
      set.copy_labels(i, labels);
      votes.add(set.identifier(puzzle), input, labels, 0);
    }
  }
  EXPECT_EQ(votes.pass_at(1), 1);
  EXPECT_EQ(votes.ranked("e1", {1, 2, {4, 5}}).size(), 1u);
}

TEST(ArcBuild, TheSeedDecides) {
  const ArcFiles files;
  const auto checksum = [&](std::uint64_t seed) {
    ArcOptions options = small_options();
    options.seed = seed;
    const TemporaryFolder folder;
    write_arc(folder.path(), read_arc_tasks(files.path(), options), options, {});
    const PuzzleData data = read_puzzle_data(folder.path());
    return check_puzzle_tokens(data.train) + check_puzzle_tokens(data.test);
  };
  EXPECT_EQ(checksum(1), checksum(1));
  EXPECT_NE(checksum(1), checksum(2));
}

void refuse_texts(const std::string& challenges, const std::string& solutions,
                  const std::string& reason) {
  expect_error<InputError>(
      [&] {
        parse_arc_tasks(base::parse_json(challenges, "challenges"),
                        base::parse_json(solutions, "solutions"), "evaluation", "challenges",
                        "solutions", Unsolved::refused);
      },
      reason);
}

void refuse_grid(const std::string& grid, const std::string& reason) {
  refuse_texts(R"({"e1": {"train": [{"input": [[1]], "output": )" + grid +
                   R"(}], "test": [{"input": [[4]]}]}})",
               "null", "challenges: task \"e1\": train pair 1: output: " + reason);
  const std::string task =
      R"({"e1": {"train": [{"input": [[1]], "output": [[1]]}], "test": [{"input": [[4]]}]}})";
  refuse_texts(task, R"({"e1": [)" + grid + "]}", "solutions: task \"e1\": solution 1: " + reason);
}

TEST(ArcTasks, RefusesGridsByTaskAndPair) {
  refuse_grid("[]", "it must be a list of rows");
  refuse_grid("[[]]", "row 1 must be a list of cells");
  refuse_grid("7", "it must be a list of rows");
  refuse_grid("[[1, 2], [3]]", "row 2 has 1 cells, row 1 has 2");
  refuse_grid("[[1, 10]]", "row 1, column 2 is 10; cells are whole numbers from 0 to 9");
  refuse_grid("[[1], [-1]]", "row 2, column 1 is -1");
  refuse_grid("[[1.5]]", "row 1, column 1 is 1.5");
  refuse_grid("[[\"a\"]]", "row 1, column 1 is no number");
  refuse_grid(json(std::vector<std::vector<int>>(31, {1})).dump(), "it has 31 rows; 30");
  refuse_grid(json(std::vector<std::vector<int>>(1, std::vector<int>(31, 1))).dump(),
              "row 1 has 31 cells; 30");
}

TEST(ArcTasks, RefusesWhatIsNoTask) {
  const auto refuse = [](const std::string& challenges, const std::string& reason) {
    refuse_texts(challenges, "null", "challenges: " + reason);
  };
  refuse("[1]", "must be a JSON object");
  refuse("{}", "it has no task");
  refuse(R"({"e1": 7})", "task \"e1\": it must be an object with train and test");
  refuse(R"({"e1": {"test": []}})", "task \"e1\": train is missing");
  refuse(R"({"e1": {"train": {}}})", "task \"e1\": train must be a list");
  refuse(R"({"e1": {"train": []}})", "task \"e1\": train has no pair");
  refuse(R"({"e1": {"train": [7]}})", "task \"e1\": train pair 1: it must be an object");
  refuse(R"({"e1": {"train": [{"output": [[1]]}]}})",
         "task \"e1\": train pair 1: input is missing");
  refuse(R"({"a|||b": {}})", "task \"a|||b\": an id must not be empty or hold |||");
  refuse(R"({"": {}})", "task \"\": an id must not be empty");
  refuse_texts(kEvaluation, "{}", "solutions: task \"e1\": it has no solutions");
  refuse_texts(kEvaluation, R"({"e1": [[[1]]]})", "each of 2 test pairs");
  refuse_texts(kEvaluation, R"({"e1": 3})", "each of 2 test pairs");
  refuse_texts(kEvaluation, "[]", "solutions: must be a JSON object");
  refuse_texts(kEvaluation, "null", "challenges: task \"e1\": test pair 1: it has no solution");
}

TEST(ArcTasks, RefusesFoldersAndSubsets) {
  const ArcFiles files;
  const auto read = [&](const ArcOptions& options) {
    return read_arc_tasks(files.path(), options);
  };
  expect_error<InputError>([&] { read({.subsets = {"other"}, .test_subsets = {}}); },
                           "there is no other_challenges.json");
  files.write("y_training_challenges.json", kTraining);
  expect_error<InputError>([&] { read(small_options()); }, "x_training_challenges.json",
                           "y_training_challenges.json", "could be meant");
  fs::remove(files.path() / "y_training_challenges.json");
  files.write("evaluation2_challenges.json", kEvaluation);
  files.write("evaluation2_solutions.json", kEvaluationSolutions);
  expect_error<InputError>(
      [&] { read({.subsets = {"evaluation", "evaluation2"}, .test_subsets = {"evaluation"}}); },
      "task \"e1\" is in evaluation and in evaluation2");
  const TemporaryFolder folder;
  ArcOptions untested = small_options();
  untested.subsets = {"training"};
  expect_error<InputError>([&] { write_arc(folder.path(), read(untested), untested, {}); },
                           "none of the tasks is of a test set (evaluation)");
}

TEST(ArcTasks, WithoutSolutions) {
  const ArcFiles files;
  ArcOptions options = small_options();
  fs::remove(files.path() / "x_evaluation_solutions.json");
  expect_error<InputError>([&] { read_arc_tasks(files.path(), options); },
                           "test pair 1: it has no solution");
  options.unsolved = Unsolved::blank;
  const auto tasks = read_arc_tasks(files.path(), options);
  const auto found =
      std::find_if(tasks.begin(), tasks.end(), [](const ArcTask& task) { return task.id == "e1"; });
  ASSERT_NE(found, tasks.end());
  EXPECT_EQ(found->test[1].output, (Grid{1, 1, {0}}));
  // Nobody learns from blanks.
  fs::remove(files.path() / "x_training_solutions.json");
  expect_error<InputError>([&] { read_arc_tasks(files.path(), options); },
                           "x_training_challenges.json", "it has no solution");
}

TEST(ArcViews, RefusesNamesOfNoView) {
  for (const std::string name :
       {"a|||t8|||0123456789", "a|||t1|||0123456788", "a|||t1|||012345678", "a|||t1",
        "a|||x1|||0123456789", "a|||t1|||01234567890", "a|||t1|||012345678x"}) {
    expect_error<InputError>([&] { parse_view_name(name); }, name, "names no view");
  }
  EXPECT_EQ(parse_view_name("plain").task, "plain");
}

TEST(ArcVotes, WithoutVotesThereIsNothingRight) {
  ArcTask task;
  task.id = "a";
  task.test = {{Grid{1, 1, {3}}, Grid{1, 1, {0}}}};
  ArcVotes votes({"<blank>", "a"}, {{"a", task}}, 0);
  EXPECT_EQ(votes.pass_at(1000), 0);
  EXPECT_EQ(votes.submission(),
            json::parse(R"({"a": [{"attempt_1": [[0]], "attempt_2": [[0]]}]})"));
  const std::vector<std::int32_t> tokens(900, 0);
  // An answer that crops to nothing is none.
  std::vector<std::int32_t> question(900, 0);
  question[0] = 3 + 2;
  question[1] = question[30] = 1;
  votes.add(1, question, tokens, 0);
  ASSERT_EQ(votes.ranked("a", task.test[0].input).size(), 1);
  EXPECT_EQ(votes.submission(),
            json::parse(R"({"a": [{"attempt_1": [[0]], "attempt_2": [[0]]}]})"));
  expect_error<InputError>([&] { votes.add(2, tokens, tokens, 0); }, "identifier 2 has no name");
  expect_error<InputError>([&] { votes.add(-1, tokens, tokens, 0); }, "identifier -1");
}

// More votes come first; among equals the higher mean of q; then who came first.
TEST(ArcVotes, Order) {
  ArcTask task;
  task.id = "a";
  const Grid question{1, 1, {3}};
  task.test = {{question, Grid{1, 1, {4}}}};
  ArcVotes votes({"<blank>", "a"}, {{"a", task}}, 0);
  const auto sequence = [](std::uint8_t colour) {
    const auto tokens = arc_sequence(Grid{1, 1, {colour}}, 0, 0);
    return std::vector<std::int32_t>(tokens.begin(), tokens.end());
  };
  const auto vote = [&](std::uint8_t colour, double q) {
    votes.add(1, sequence(3), sequence(colour), q);
  };
  vote(1, 9), vote(2, 0), vote(2, -5), vote(4, 3), vote(4, -3), vote(5, 9), vote(6, 9);
  std::vector<int> order;
  for (const Grid& grid : votes.ranked("a", question)) order.push_back(grid.cells[0]);
  EXPECT_EQ(order, (std::vector<int>{4, 2, 1, 5, 6}));
  EXPECT_EQ(votes.pass_at(1), 1);
}

}  // namespace
}  // namespace edelta::data
