// The fastest of several times: the machine is shared, and noise only adds.
#pragma once

#include <algorithm>

namespace edelta::bench {

// `best` is 0 before the first.
inline void keep_fastest(double& best, double seconds) {
  best = best == 0 ? seconds : std::min(best, seconds);
}

}  // namespace edelta::bench
