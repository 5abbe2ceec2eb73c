// Work that all ranks must have done, or none goes on.
#pragma once

#include <exception>
#include <optional>
#include <string>

#include "edelta/base/error.h"
#include "edelta/dist/ranks.h"

namespace edelta::dist {

// What work() gives. Where it throws at one rank, it is an error at all: there as it is, elsewhere
// an InputError that names the rank.
template <class Work>
auto together(Ranks& ranks, const Work& work) {
  std::optional<decltype(work())> result;
  std::exception_ptr own;
  std::string said;
  try {
    result.emplace(work());
  } catch (const std::exception& error) {
    own = std::current_exception();
    said = std::string(error.what()) + " ";  // one without words is one, too
  }
  if (ranks.count() > 1) {
    const std::vector<std::string> all = gather_texts(ranks, said);
    for (size_t rank = 0; rank < all.size() && !own; ++rank) {
      if (all[rank].empty()) continue;
      const std::string reason = all[rank].substr(0, all[rank].find('\n'));
      throw InputError(ranks.name_of(static_cast<int64_t>(rank)) + ": " + reason);
    }
  }
  if (own) std::rethrow_exception(own);
  return *std::move(result);
}

}  // namespace edelta::dist
