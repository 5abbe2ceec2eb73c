// Recursive models of different mixers with the same number of parameters.
#include <cstdlib>
#include <numeric>

#include "edelta/models/recursive.h"

namespace edelta::models {
namespace {

RecursiveConfig with_width(RecursiveConfig config, int64_t width) {
  if (config.puzzle_emb_ndim == config.hidden_size) config.puzzle_emb_ndim = width;
  config.hidden_size = width;
  return config;
}

}  // namespace

RecursiveConfig matched_to(const RecursiveConfig& config, int64_t parameters) {
  // Whole streams, and heads of an even size, which rotary positions need.
  const int64_t unit = std::lcm(config.n_streams, 2 * config.num_heads);
  const auto count = [&](int64_t units) {
    return count_parameters(with_width(config, units * unit));
  };
  int64_t below = 1, above = 2;
  while (count(above) < parameters) {
    below = above;
    above *= 2;
  }
  while (above - below > 1) {
    const int64_t middle = (below + above) / 2;
    (count(middle) < parameters ? below : above) = middle;
  }
  const bool lower = std::llabs(count(below) - parameters) <= std::llabs(count(above) - parameters);
  return with_width(config, (lower ? below : above) * unit);
}

}  // namespace edelta::models
