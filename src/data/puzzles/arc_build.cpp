#include "data/puzzles/arc_build.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <unordered_set>

#include "base/atomic_file.h"
#include "base/input_file.h"
#include "base/json.h"
#include "base/printable.h"
#include "base/random.h"
#include "data/puzzles/arc_sequence.h"
#include "data/puzzles/arc_view.h"
#include "data/puzzles/puzzle_files.h"
#include "data/puzzles/shuffle.h"
#include "edelta/base/error.h"

namespace edelta::data {
namespace {

namespace fs = std::filesystem;
using base::RandomStream;
using base::Stream;

constexpr int kTrialsPerView = 5;

std::vector<ArcPair> joined(const std::vector<ArcPair>& a, const std::vector<ArcPair>& b) {
  std::vector<ArcPair> all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

ArcPair seen_through(const ArcView& view, const ArcPair& pair) {
  return {seen_through(view, pair.input), seen_through(view, pair.output)};
}

// The views of a task, first the one that changes nothing; no two look the same.
class TaskViews {
 public:
  TaskViews(const ArcTask& task, std::int64_t count, RandomStream random)
      : pairs_(joined(task.train, task.test)),
        seen_(pairs_.size()),
        known_{puzzle_hash(pairs_)},
        count_(count),
        trials_(kTrialsPerView * count),
        random_(random) {}

  bool complete() const {
    return trials_ == 0 || static_cast<std::int64_t>(views_.size()) > count_;
  }
  void draw(int trials) {
    for (; trials > 0 && !complete(); --trials, --trials_) {
      const ArcView view = draw_view(random_);
      std::transform(pairs_.begin(), pairs_.end(), seen_.begin(),
                     [&](const ArcPair& pair) { return seen_through(view, pair); });
      if (known_.insert(puzzle_hash(seen_)).second) views_.push_back(view);
    }
  }
  std::vector<ArcView> take() { return std::move(views_); }

 private:
  std::vector<ArcPair> pairs_, seen_;
  std::vector<ArcView> views_{ArcView()};
  std::unordered_set<std::string> known_;
  std::int64_t count_, trials_;
  RandomStream random_;
};

// Tasks are independent of each other, and many: several at a time, and word after some trials, so
// that nobody waits long who wants to stop it.
std::vector<std::vector<ArcView>> draw_all_views(const std::vector<ArcTask>& tasks,
                                                 const ArcOptions& options,
                                                 const OnPuzzleProgress& on_progress) {
  constexpr std::size_t kAtATime = 16;
  constexpr int kTrials = 256;
  std::vector<std::vector<ArcView>> views;
  while (views.size() < tasks.size()) {
    const std::size_t first = views.size(), end = std::min(first + kAtATime, tasks.size());
    std::vector<TaskViews> drawing;
    for (std::size_t i = first; i < end; ++i) {
      drawing.emplace_back(tasks[i], options.views,
                           RandomStream(options.seed, Stream::puzzle_views, i));
    }
    const auto complete = [](const TaskViews& each) { return each.complete(); };
    while (!std::all_of(drawing.begin(), drawing.end(), complete)) {
      if (on_progress) {
        on_progress({"tasks seen in views", static_cast<std::int64_t>(first),
                     static_cast<std::int64_t>(tasks.size())});
      }
#pragma omp parallel for schedule(dynamic)
      for (std::size_t i = 0; i < drawing.size(); ++i) drawing[i].draw(kTrials);
    }
    for (TaskViews& each : drawing) views.push_back(each.take());
  }
  return views;
}

// What one task gives to a split.
struct Group {
  const std::vector<ArcView>* views;
  std::vector<ArcPair> pairs;
  std::int64_t first_identifier;
};

std::int64_t examples_of(const std::vector<Group>& groups) {
  std::int64_t examples = 0;
  for (const Group& group : groups) {
    examples += static_cast<std::int64_t>(group.views->size() * group.pairs.size());
  }
  return examples;
}

struct Offset {
  int row = 0, column = 0;
};

Offset draw_offset(const ArcPair& pair, RandomStream& random) {
  const auto free = [](int a, int b) {
    return static_cast<std::uint32_t>(kArcSide - std::max(a, b) + 1);
  };
  Offset offset;
  offset.row = static_cast<int>(random.below(free(pair.input.rows, pair.output.rows)));
  offset.column = static_cast<int>(random.below(free(pair.input.columns, pair.output.columns)));
  return offset;
}

class ArcSplit {
 public:
  ArcSplit(const fs::path& folder, const std::vector<Group>& groups, std::int64_t identifiers,
           bool moved)
      : groups_(groups),
        moved_(moved),
        writer_(folder, examples_of(groups),
                {.pad_id = kArcPad,
                 .ignore_label_id = kArcPad,
                 .vocab_size = kArcVocab,
                 .seq_len = kArcCells,
                 .num_puzzle_identifiers = identifiers}) {}

  void write(std::uint64_t seed, const char* doing, const OnPuzzleProgress& on_progress) {
    const std::int64_t all = examples_of(groups_);
    for (const Group& group : groups_) {
      for (std::size_t i = 0; i < group.views->size(); ++i) {
        if (on_progress) on_progress({doing, writer_.examples(), all});
        write_puzzle((*group.views)[i], group.pairs,
                     group.first_identifier + static_cast<std::int64_t>(i), seed);
      }
      writer_.end_group();
    }
    writer_.finish(writer_.puzzles());
  }

  const PuzzleSplitWriter& writer() const { return writer_; }

 private:
  void write_puzzle(const ArcView& view, const std::vector<ArcPair>& pairs, std::int64_t identifier,
                    std::uint64_t seed) {
    RandomStream random(seed, Stream::puzzle_offsets, static_cast<std::uint64_t>(identifier));
    const std::size_t unmoved = random.below(static_cast<std::uint32_t>(pairs.size()));
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const ArcPair pair = seen_through(view, pairs[i]);
      const Offset offset = moved_ && i != unmoved ? draw_offset(pair, random) : Offset{};
      writer_.add_example(arc_sequence(pair.input, offset.row, offset.column),
                          arc_sequence(pair.output, offset.row, offset.column));
    }
    writer_.end_puzzle(static_cast<std::int32_t>(identifier));
  }

  const std::vector<Group>& groups_;
  bool moved_;
  PuzzleSplitWriter writer_;
};

// In a random order within each subset.
void shuffle_subsets(std::vector<ArcTask>& tasks, std::uint64_t seed) {
  std::uint64_t number = 0;
  for (auto begin = tasks.begin(); begin != tasks.end(); ++number) {
    const auto end = std::find_if(
        begin, tasks.end(), [&](const ArcTask& task) { return task.subset != begin->subset; });
    std::span<ArcTask> subset(begin, end);
    RandomStream random(seed, Stream::puzzle_order, number);
    shuffle(subset, random);
    begin = end;
  }
}

}  // namespace

nlohmann::ordered_json options_to_json(const ArcOptions& options) {
  return {{"kind", "arc"},
          {"subsets", options.subsets},
          {"test_sets", options.test_subsets},
          {"aug", options.views},
          {"unsolved", options.unsolved == Unsolved::blank},
          {"seed", options.seed}};
}

bool lacks_solutions(const fs::path& folder) {
  const fs::path options = folder / kPuzzleOptionsFile, tasks = folder / kTestPuzzlesFile;
  if (!base::is_there(options) || !base::is_there(tasks)) return false;
  const nlohmann::json asked = base::read_json(options);
  const auto unsolved = asked.find("unsolved");
  if (unsolved == asked.end() || *unsolved != true) return false;
  const auto is_blank = [](const ArcPair& pair) { return pair.output == unknown_output(); };
  const auto has_blank = [&](const auto& entry) {
    return std::any_of(entry.second.test.begin(), entry.second.test.end(), is_blank);
  };
  const std::map<std::string, ArcTask> tested = read_test_puzzles(tasks);
  return std::any_of(tested.begin(), tested.end(), has_blank);
}

std::vector<ArcTask> read_arc_tasks(const fs::path& folder, const ArcOptions& options) {
  std::vector<ArcTask> tasks;
  std::map<std::string, std::string> subset_of;
  for (const std::string& subset : options.subsets) {
    const bool tested = options.test_subsets.contains(subset);
    for (ArcTask& task :
         read_arc_subset(folder, subset, tested ? options.unsolved : Unsolved::refused)) {
      const auto [known, added] = subset_of.try_emplace(task.id, subset);
      if (!added) {
        throw InputError(fmt::format("task {} is in {} and in {}; ids must differ",
                                     base::printable(task.id), known->second, subset));
      }
      tasks.push_back(std::move(task));
    }
  }
  return tasks;
}

ArcCounts write_arc(const fs::path& folder, std::vector<ArcTask> tasks, const ArcOptions& options,
                    const OnPuzzleProgress& on_progress) {
  const auto is_tested = [&](const ArcTask& task) {
    return options.test_subsets.contains(task.subset);
  };
  ArcCounts counts{.tasks = static_cast<std::int64_t>(tasks.size()),
                   .test_tasks = std::count_if(tasks.begin(), tasks.end(), is_tested)};
  if (counts.test_tasks == 0) {
    throw InputError(fmt::format("none of the tasks is of a test set ({})",
                                 fmt::join(options.test_subsets, ", ")));
  }
  shuffle_subsets(tasks, options.seed);
  const auto views = draw_all_views(tasks, options, on_progress);
  std::vector<std::string> names{"<blank>"};
  std::vector<Group> train, test;
  nlohmann::json test_puzzles = nlohmann::json::object();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const ArcTask& task = tasks[i];
    const auto first = static_cast<std::int64_t>(names.size());
    for (const ArcView& view : views[i]) {
      names.push_back(&view == views[i].data() ? task.id : view_name(task.id, view));
    }
    counts.short_tasks += static_cast<std::int64_t>(views[i].size()) <= options.views;
    if (is_tested(task)) {
      train.push_back({&views[i], task.train, first});
      test.push_back({&views[i], task.test, first});
      test_puzzles[task.id] = arc_task_to_json(task);
    } else {
      train.push_back({&views[i], joined(task.train, task.test), first});
    }
  }
  counts.identifiers = static_cast<std::int64_t>(names.size());
  ArcSplit training(folder / kTrainPuzzles, train, counts.identifiers, /*moved=*/true);
  training.write(options.seed, "training examples", on_progress);
  ArcSplit testing(folder / kTestPuzzles, test, counts.identifiers, /*moved=*/false);
  testing.write(options.seed, "test examples", on_progress);
  write_identifiers(folder, names);
  base::write_text_atomically(folder / kTestPuzzlesFile, test_puzzles.dump() + "\n");
  counts.train_puzzles = training.writer().puzzles();
  counts.train_examples = training.writer().examples();
  counts.test_puzzles = testing.writer().puzzles();
  counts.test_examples = testing.writer().examples();
  return counts;
}

}  // namespace edelta::data
