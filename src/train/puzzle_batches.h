// Puzzles as batches of a recursive model.
#pragma once

#include "edelta/torch.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "edelta/data/puzzle_data.h"
#include "edelta/models/recursive.h"
#include "edelta/train/config.h"

namespace edelta::train {

// An example of a split.
struct PuzzlePlace {
  const data::PuzzleSet* set = nullptr;
  int64_t puzzle = 0, example = 0;
};

models::PuzzleBatch puzzle_batch(const std::vector<PuzzlePlace>& places, int64_t seq_len);

// The training batches. Every epoch visits the groups once, in an order of its own; each visit
// takes one of the group's views and one of its examples (specification 13.6).
class PuzzleBatches {
 public:
  PuzzleBatches(data::PuzzleSplit split, const Protocol& protocol);

  // That of iteration `iteration` (from 0): a function of the seed and this number alone.
  models::PuzzleBatch at(int64_t iteration);

 private:
  struct Group {
    const data::PuzzleSet* set;
    int64_t group;
  };
  const Group& visited(int64_t visit);

  data::PuzzleSplit split_;
  int64_t batch_;
  uint64_t seed_;
  std::vector<Group> groups_;
  std::vector<uint32_t> order_;  // of the epoch
  int64_t epoch_ = -1;
};

// What makes training insist on more steps, a function of the seed and the iteration alone.
models::Exploration exploration(const Protocol& protocol, int64_t most_steps, int64_t iteration);

// The first examples of a split in their order, at most so many; 0: all.
std::vector<PuzzlePlace> first_examples(const data::PuzzleSplit& split, int64_t most);

}  // namespace edelta::train
