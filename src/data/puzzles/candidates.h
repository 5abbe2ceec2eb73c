// Puzzles that are drawn until enough of them are fit.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/puzzles/puzzle_writer.h"
#include "edelta/base/error.h"

namespace edelta::data {

// The first `wanted` of candidates 0, 1, 2, … that are something and that `accept` takes.
// Candidates are made several at a time, by make(index) alone, and accepted in their order, so that
// the result does not depend on the number of threads. After too many in a row that are not fit the
// rest is given up: InputError with `advice`.
template <class Item, class Make, class Accept>
std::vector<Item> first_candidates(std::int64_t wanted, const Make& make, const Accept& accept,
                                   const char* doing, const std::string& advice,
                                   const OnPuzzleProgress& on_progress) {
  constexpr int kAtATime = 64;
  constexpr int kHopeless = 4096;
  std::vector<Item> taken;
  int barren = 0;
  for (std::uint64_t first = 0; static_cast<std::int64_t>(taken.size()) < wanted;
       first += kAtATime) {
    if (on_progress) on_progress({doing, static_cast<std::int64_t>(taken.size()), wanted});
    if (barren >= kHopeless) {
      throw InputError(fmt::format("{} of {} {} found, and none among the last {} tries: {}",
                                   taken.size(), wanted, doing, barren, advice));
    }
    std::array<std::optional<Item>, kAtATime> made;
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < kAtATime; ++i) made[i] = make(first + i);
    for (std::optional<Item>& item : made) {
      if (static_cast<std::int64_t>(taken.size()) == wanted) break;
      ++barren;
      if (!item || !accept(*item)) continue;
      taken.push_back(std::move(*item));
      barren = 0;
    }
  }
  return taken;
}

}  // namespace edelta::data
