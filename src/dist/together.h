// Work that all ranks must have done, or none goes on.
#pragma once

#include <exception>
#include <optional>
#include <string>

#include "edelta/base/error.h"
#include "edelta/dist/ranks.h"

namespace edelta::dist {

// What work() gives. Where it throws at one rank, it is an error at all: there as it is, elsewhere
// one of its kind, InputError or Failure, that names the rank.
template <class Work>
auto together(Ranks& ranks, const Work& work) {
  std::optional<decltype(work())> result;
  std::exception_ptr own;
  std::string said;  // the kind of the error, and its words
  constexpr char kInput = 'i', kOther = 'o';
  try {
    result.emplace(work());
  } catch (const InputError& error) {
    own = std::current_exception();
    said = kInput + std::string(error.what());
  } catch (const std::exception& error) {
    own = std::current_exception();
    said = kOther + std::string(error.what());
  }
  if (ranks.count() > 1) {
    const std::vector<std::string> all = gather_texts(ranks, said);
    for (size_t rank = 0; rank < all.size() && !own; ++rank) {
      if (all[rank].empty()) continue;
      const std::string reason = ranks.name_of(static_cast<int64_t>(rank)) + ": " +
                                 all[rank].substr(1, all[rank].find('\n') - 1);
      if (all[rank].front() == kInput) throw InputError(reason);
      throw Failure(reason);
    }
  }
  if (own) std::rethrow_exception(own);
  return *std::move(result);
}

}  // namespace edelta::dist
