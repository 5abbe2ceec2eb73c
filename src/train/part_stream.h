// The random numbers of one accumulated batch of an iteration.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "edelta/train/config.h"

namespace edelta::train {

inline base::RandomStream part_stream(const Protocol& protocol, base::Stream stream,
                                      int64_t iteration, int64_t part) {
  const int64_t index = iteration * protocol.accumulate + part;
  return {protocol.seed, stream, static_cast<uint64_t>(index)};
}

}  // namespace edelta::train
