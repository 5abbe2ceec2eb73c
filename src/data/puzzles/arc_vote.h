// What a model's answers to the views of a task come to: votes, pass@K, a submission
// (specification 12.4).
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/puzzles/arc_tasks.h"
#include "data/puzzles/arc_view.h"

namespace edelta::data {

// The votes of one model over one split. Another checkpoint's are another object's.
class ArcVotes {
 public:
  // `identifiers` are the names of the views; `tasks` those that are tested. InputError for a name
  // of no view.
  ArcVotes(const std::vector<std::string>& identifiers, std::map<std::string, ArcTask> tasks,
           std::int32_t blank_identifier);

  // One example: its tokens, what was predicted, and the halting head's logit. Rows of the blank
  // identifier fill up a batch and do not vote. InputError for an identifier without a name.
  void add(std::int32_t identifier, std::span<const std::int32_t> input,
           std::span<const std::int32_t> prediction, double q_halt);

  // Mean over the tasks of the share of its test pairs whose output is among the first k.
  double pass_at(int k) const;

  // {task: [{"attempt_1": grid, "attempt_2": grid}]}; without a second the first again, and
  // without any [[0]].
  nlohmann::json submission() const;

  // The different answers to a test input, the best first.
  std::vector<Grid> ranked(const std::string& task, const Grid& input) const;

 private:
  struct Answer {
    Grid grid;
    std::int64_t votes = 0;
    double q = 0;  // sum over the votes
  };
  using Answers = std::vector<Answer>;  // in the order in which they first came

  std::vector<NamedView> views_;
  std::map<std::string, ArcTask> tasks_;
  std::int32_t blank_;
  std::map<std::pair<std::string, std::string>, Answers> answers_;  // by task and hash of the input
};

}  // namespace edelta::data
