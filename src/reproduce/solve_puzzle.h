// What the best model of a recursive run believes of a test puzzle, step by step.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "reproduce/step.h"

namespace edelta::reproduce {

// Grids are lists of rows, a character a cell.
struct PuzzleThought {
  struct Step {
    std::vector<std::string> answer;
    double belief = 0;  // the probability that it is right, as the model has it
  };
  std::vector<std::string> puzzle, expected;
  std::vector<Step> steps;
};

// {"puzzle": …, "expected": …, "steps": [{"solution": …, "belief": …}, …]}; edelta solve --json has
// that, too.
nlohmann::ordered_json solve_puzzle(const SolvePuzzle& request);
PuzzleThought puzzle_thought_from_json(const nlohmann::json& json, const std::string& source);

// The puzzle, the answers after the first and the last step and what was expected, side by side; a
// cell that is wrong is marked ×.
std::string drawn(const PuzzleThought& thought);

}  // namespace edelta::reproduce
