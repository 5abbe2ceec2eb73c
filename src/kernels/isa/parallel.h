// Loops over independent items that share them out among threads, unless there is only one item, or
// one of several threads is already at work on its own part and runs the loop for that part alone.
#pragma once

#include <omp.h>

#include <cstdint>

namespace edelta::kernels::EDELTA_ISA {

template <typename Body>
inline void in_parallel(int64_t count, const Body& body) {
  if (count <= 1 || omp_get_level() > 0) {
    for (int64_t i = 0; i < count; ++i) body(i);
    return;
  }
#pragma omp parallel for
  for (int64_t i = 0; i < count; ++i) body(i);
}

}  // namespace edelta::kernels::EDELTA_ISA
