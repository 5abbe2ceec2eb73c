#include "train/puzzle_batches.h"

#include <numeric>

#include "base/random.h"
#include "data/puzzles/shuffle.h"

namespace edelta::train {

using base::RandomStream;
using base::Stream;
using torch::Tensor;

models::PuzzleBatch puzzle_batch(const std::vector<PuzzlePlace>& places, int64_t seq_len) {
  const auto rows = static_cast<int64_t>(places.size());
  const Tensor inputs = torch::empty({rows, seq_len}, torch::kInt32);
  const Tensor labels = torch::empty({rows, seq_len}, torch::kInt32);
  const Tensor identifiers = torch::empty({rows}, torch::kInt64);
  for (int64_t row = 0; row < rows; ++row) {
    const auto& [set, puzzle, example] = places[row];
    const auto cells = static_cast<size_t>(seq_len);
    set->copy_inputs(example, {inputs.data_ptr<int32_t>() + row * seq_len, cells});
    set->copy_labels(example, {labels.data_ptr<int32_t>() + row * seq_len, cells});
    identifiers.data_ptr<int64_t>()[row] = set->identifier(puzzle);
  }
  return {inputs, labels, identifiers};
}

PuzzleBatches::PuzzleBatches(data::PuzzleSplit split, const Protocol& protocol)
    : split_(std::move(split)), batch_(protocol.batch), seed_(protocol.seed) {
  for (const data::PuzzleSet& set : split_.sets) {
    for (int64_t group = 0; group < set.groups(); ++group) groups_.push_back({&set, group});
  }
}

const PuzzleBatches::Group& PuzzleBatches::visited(int64_t visit) {
  const auto groups = static_cast<int64_t>(groups_.size());
  if (visit / groups != epoch_) {
    epoch_ = visit / groups;
    order_.resize(groups_.size());
    std::iota(order_.begin(), order_.end(), 0U);
    RandomStream random(seed_, Stream::puzzle_groups, static_cast<uint64_t>(epoch_));
    data::shuffle(order_, random);
  }
  return groups_[order_[visit % groups]];
}

models::PuzzleBatch PuzzleBatches::at(int64_t iteration) {
  std::vector<PuzzlePlace> places;
  for (int64_t row = 0; row < batch_; ++row) {
    const int64_t visit = iteration * batch_ + row;
    const auto& [set, group] = visited(visit);
    RandomStream random(seed_, Stream::puzzle_rows, static_cast<uint64_t>(visit));
    const auto one_of = [&](const data::IndexRange& range) {
      return range.begin + random.below(static_cast<uint32_t>(range.end - range.begin));
    };
    const int64_t puzzle = one_of(set->puzzles_of(group));
    places.push_back({set, puzzle, one_of(set->examples_of(puzzle))});
  }
  return puzzle_batch(places, split_.info.seq_len);
}

models::Exploration exploration(const Protocol& protocol, int64_t most_steps, int64_t iteration) {
  RandomStream random(protocol.seed, Stream::puzzle_exploration, static_cast<uint64_t>(iteration));
  const Tensor u = torch::empty({protocol.batch}, torch::kFloat64);
  const Tensor r = torch::empty({protocol.batch}, torch::kInt64);
  const auto most = static_cast<uint32_t>(std::max<int64_t>(most_steps, 2));
  for (int64_t row = 0; row < protocol.batch; ++row) {
    u.data_ptr<double>()[row] = random.uniform();
    r.data_ptr<int64_t>()[row] = 2 + static_cast<int64_t>(random.below(most - 1));
  }
  return {u, r};
}

std::vector<PuzzlePlace> first_examples(const data::PuzzleSplit& split, int64_t most) {
  std::vector<PuzzlePlace> places;
  for (const data::PuzzleSet& set : split.sets) {
    for (int64_t puzzle = 0; puzzle < set.puzzles(); ++puzzle) {
      const auto [begin, end] = set.examples_of(puzzle);
      for (int64_t example = begin; example < end; ++example) {
        if (most > 0 && static_cast<int64_t>(places.size()) == most) return places;
        places.push_back({&set, puzzle, example});
      }
    }
  }
  return places;
}

}  // namespace edelta::train
