// Phrases that the texts of experiments share.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace edelta::reproduce {

// "a, b and c"
std::string listed(const std::vector<std::string>& items);
std::string listed(const std::vector<int64_t>& items);

// "seed 42", "seeds 42 and 123"
std::string seeds_text(const std::vector<uint64_t>& seeds);

// What a point is, given how many runs there are of each: "mean over 3 seeds" and the spread in
// words, if there are any, or "one run each", which has no spread.
std::string over_seeds(const std::set<size_t>& counts, const std::string& spread);

}  // namespace edelta::reproduce
