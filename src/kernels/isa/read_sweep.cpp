#include "kernels/read_sweep.h"

#include "kernels/isa/lanes.h"

namespace edelta::kernels::EDELTA_ISA {

void read_sweep(const ReadSweep& a) {
  constexpr int kSums = 8;  // in flight, so that no addition waits for another
  Lanes sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums * kLanes <= a.count; i += kSums * kLanes) {
#pragma GCC unroll 8
    for (int s = 0; s < kSums; ++s) sums[s] += load<Lanes>(a.from + i + s * kLanes);
  }
  Lanes total{};
  for (const Lanes& part : sums) total += part;
  for (; i < a.count; i += kLanes) total += load(a.from, i, a.count);
  *a.sum = sum(total);
}

}  // namespace edelta::kernels::EDELTA_ISA
