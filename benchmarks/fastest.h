// The fastest repetition: what the code can do when nothing else uses the machine.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

namespace edelta::kernels {

inline double fastest(const std::vector<double>& times) {
  return *std::min_element(times.begin(), times.end());
}

inline double highest_rate(const std::vector<double>& rates) {
  return *std::max_element(rates.begin(), rates.end());
}

// Reads the wall clock, as the work is spread over threads; several short repetitions.
inline void measure(benchmark::internal::Benchmark* benchmark) {
  benchmark->Unit(benchmark::kMicrosecond)
      ->UseRealTime()
      ->MinTime(0.02)
      ->Repetitions(15)
      ->ReportAggregatesOnly(true)
      ->ComputeStatistics("fastest", fastest)
      ->ComputeStatistics("highest", highest_rate);
}

}  // namespace edelta::kernels
