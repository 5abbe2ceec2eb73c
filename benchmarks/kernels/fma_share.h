// Reports a kernel's floating-point rate, and which share of the machine's FMA peak that is.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/fma_peak.h"

namespace edelta::kernels {

// Measured once, the best of several bursts: other programs can only lower it.
inline double peak_gflops() {
  static const double peak = [] {
    double best = 0;
    for (int burst = 0; burst < 20; ++burst) {
      double gflops = 0;
      fma_peak({0.02, &gflops});
      best = std::max(best, gflops);
    }
    return best;
  }();
  return peak;
}

// `operations`: multiplications and additions of the matrix products in one run of the kernel.
inline void report_rate(benchmark::State& state, double operations) {
  using benchmark::Counter;
  const double per_run = operations * 1e-9;
  const auto rate = Counter::kIsIterationInvariantRate;
  state.counters["GFLOP/s"] = Counter(per_run, rate);
  state.counters["share_of_peak"] = Counter(per_run / peak_gflops(), rate);
}

inline std::vector<float> filled(int64_t count) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * 37 % 101) * 0.02F - 1.0F;
  return values;
}

}  // namespace edelta::kernels
