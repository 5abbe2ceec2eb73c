// Recursive models of different mixers with the same number of parameters.
#include <cstdlib>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "edelta/models/recursive.h"

namespace edelta::models {
namespace {

RecursiveConfig with_width(RecursiveConfig config, int64_t width) {
  if (config.puzzle_emb_ndim == config.hidden_size) config.puzzle_emb_ndim = width;
  config.hidden_size = width;
  return config;
}

// The width that comes closest.
int64_t matched_width(const RecursiveConfig& config, int64_t parameters) {
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
  return (lower ? below : above) * unit;
}

}  // namespace

RecursiveConfig matched_to(const RecursiveConfig& config, int64_t parameters) {
  // A search makes some ten models, and a suite asks for the same again with every seed.
  static std::mutex mutex;
  static std::map<std::string, int64_t> widths;
  const std::lock_guard lock(mutex);
  const std::string key = to_json(config).dump() + std::to_string(parameters);
  const auto [found, added] = widths.try_emplace(key, 0);
  if (added) found->second = matched_width(config, parameters);
  return with_width(config, found->second);
}

}  // namespace edelta::models
