#include "reproduce/wording.h"

#include <fmt/format.h>

namespace edelta::reproduce {
namespace {

template <class T>
std::string joined(const std::vector<T>& items) {
  if (items.size() < 2) return fmt::format("{}", fmt::join(items, ""));
  return fmt::format("{} and {}", fmt::join(items.begin(), items.end() - 1, ", "), items.back());
}

}  // namespace

std::string listed(const std::vector<std::string>& items) { return joined(items); }
std::string listed(const std::vector<int64_t>& items) { return joined(items); }

std::string seeds_text(const std::vector<uint64_t>& seeds) {
  return fmt::format("{} {}", seeds.size() == 1 ? "seed" : "seeds", joined(seeds));
}

std::string over_seeds(const std::set<size_t>& counts, const std::string& spread) {
  const size_t least = counts.empty() ? 0 : *counts.begin();
  const size_t most = counts.empty() ? 0 : *counts.rbegin();
  if (most <= 1) return "one run each";
  const std::string number =
      least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
  return fmt::format("mean over {} seeds{}{}", number, spread.empty() ? "" : ", ", spread);
}

}  // namespace edelta::reproduce
