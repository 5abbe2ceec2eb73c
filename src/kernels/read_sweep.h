// The machine's other limit: reading memory once, and nothing else.
#pragma once

#include <cstdint>

namespace edelta::kernels {

struct ReadSweep {
  const float* from = nullptr;
  int64_t count = 0;
  float* sum = nullptr;  // out: so that nothing can be left out
};

// Adds up `count` floats on the calling thread, as fast as they come.
void read_sweep(const ReadSweep& request);

}  // namespace edelta::kernels
