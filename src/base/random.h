// Random numbers that depend on nothing but their address.
#pragma once

#include <array>
#include <cstdint>

namespace edelta::base {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// Philox4x32 with 10 rounds (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2,
// 3", SC 2011): a bijection of the counter whose output passes as random.
PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key);

// What the numbers are drawn for: every use has a stream of its own, so that none of them repeats
// another's numbers. The values are part of what a seed means and never change.
enum class Stream : std::uint32_t {
  training_data = 0,
  validation_data = 1,
  task_rule = 2,
  batches = 16,
  dropout = 17,
  sampling = 24,
  norm_probe = 32,
  reflection_probe = 48,
  training_puzzles = 80,
  test_puzzles = 81,
  puzzle_views = 82,
  puzzle_order = 83,
  puzzle_offsets = 84,
  puzzle_sample = 85,
  puzzle_groups = 86,
  puzzle_rows = 87,
  puzzle_exploration = 88,
};

// The numbers of one item (a trajectory): the key is the seed, the counter (block, index, stream),
// so no item's numbers depend on how many others there are or on who draws them when.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, Stream stream, std::uint64_t index);

  std::uint32_t bits();
  // [0, 1): 53 bits, of two words, first the high one.
  double uniform();
  // [0, bound) without bias: Lemire's multiplication with rejection; bound > 0.
  std::uint32_t below(std::uint32_t bound);
  // The same of two words, first the high one, for bounds beyond 2³².
  std::uint64_t below64(std::uint64_t bound);
  // N(0, 1) by Box and Muller in double precision with portable_math.h: of u₁, u₂ first
  // √(−2 ln(1−u₁)) cos 2πu₂, then the same with sin.
  double normal();

 private:
  PhiloxKey key_;
  PhiloxCounter counter_;
  PhiloxCounter block_{};
  unsigned used_ = 4;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace edelta::base
