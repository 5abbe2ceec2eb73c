// Random orders.
#pragma once

#include <cstdint>
#include <utility>

#include "base/random.h"

namespace edelta::data {

// Fisher and Yates: every order is equally likely, and the same for one stream on every machine.
template <class Items>
void shuffle(Items& items, base::RandomStream& random) {
  for (std::uint32_t left = static_cast<std::uint32_t>(items.size()); left > 1; --left) {
    std::swap(items[left - 1], items[random.below(left)]);
  }
}

}  // namespace edelta::data
