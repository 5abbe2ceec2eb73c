#include "data/puzzles/arc_vote.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "data/puzzles/arc_sequence.h"
#include "edelta/base/error.h"

namespace edelta::data {

ArcVotes::ArcVotes(const std::vector<std::string>& identifiers,
                   std::map<std::string, ArcTask> tasks, std::int32_t blank_identifier)
    : tasks_(std::move(tasks)), blank_(blank_identifier) {
  for (const std::string& name : identifiers) views_.push_back(parse_view_name(name));
}

void ArcVotes::add(std::int32_t identifier, std::span<const std::int32_t> input,
                   std::span<const std::int32_t> prediction, double q_halt) {
  if (identifier == blank_) return;
  if (identifier < 0 || static_cast<std::size_t>(identifier) >= views_.size()) {
    throw InputError(
        fmt::format("identifier {} has no name; there are {} names", identifier, views_.size()));
  }
  const auto& [task, view] = views_[identifier];
  const std::string question = grid_hash(as_before(view, crop_arc(input)));
  const Grid grid = as_before(view, crop_arc(prediction));
  Answers& answers = answers_[{task, question}];
  auto found = std::find_if(answers.begin(), answers.end(),
                            [&](const Answer& answer) { return answer.grid == grid; });
  if (found == answers.end()) found = answers.insert(answers.end(), {grid});
  ++found->votes;
  found->q += 1 / (1 + std::exp(-q_halt));
}

std::vector<Grid> ArcVotes::ranked(const std::string& task, const Grid& input) const {
  const auto found = answers_.find({task, grid_hash(input)});
  if (found == answers_.end()) return {};
  Answers answers = found->second;
  std::stable_sort(answers.begin(), answers.end(), [](const Answer& a, const Answer& b) {
    if (a.votes != b.votes) return a.votes > b.votes;
    return a.q / static_cast<double>(a.votes) > b.q / static_cast<double>(b.votes);
  });
  std::vector<Grid> grids;
  for (Answer& answer : answers) grids.push_back(std::move(answer.grid));
  return grids;
}

double ArcVotes::pass_at(int k) const {
  double sum = 0;
  for (const auto& [id, task] : tasks_) {
    std::int64_t right = 0;
    for (const ArcPair& pair : task.test) {
      const std::vector<Grid> grids = ranked(id, pair.input);
      const auto end = grids.begin() + std::min<std::ptrdiff_t>(k, std::ssize(grids));
      right += std::find(grids.begin(), end, pair.output) != end;
    }
    sum += static_cast<double>(right) / static_cast<double>(task.test.size());
  }
  return tasks_.empty() ? 0 : sum / static_cast<double>(tasks_.size());
}

nlohmann::json ArcVotes::submission() const {
  nlohmann::json submission = nlohmann::json::object();
  for (const auto& [id, task] : tasks_) {
    nlohmann::json& list = submission[id] = nlohmann::json::array();
    for (const ArcPair& pair : task.test) {
      std::vector<Grid> grids = ranked(id, pair.input);
      // What crops to nothing is an answer that votes count, but no grid that anybody could read.
      std::erase_if(grids, [](const Grid& grid) { return grid.cells.empty(); });
      if (grids.empty()) grids.push_back(unknown_output());
      list.push_back({{"attempt_1", grid_to_json(grids.front())},
                      {"attempt_2", grid_to_json(grids[grids.size() > 1 ? 1 : 0])}});
    }
  }
  return submission;
}

}  // namespace edelta::data
