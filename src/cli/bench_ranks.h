// edelta bench --ranks: one process with all threads against several with a part of them each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/bench.h"

namespace edelta::cli {

struct RankBenchOptions {
  std::vector<std::string> models;
  std::string task;  // whose dimension the models take
  bench::BenchOptions bench;
  int64_t ranks = 2;
  bool json = false;
};

// Starts the processes, as often in turn as is needed for steady numbers, and prints.
void bench_processes(const RankBenchOptions& options);
// What each of them does: the first one prints its times as JSON.
void bench_as_rank(const RankBenchOptions& options);

}  // namespace edelta::cli
