// What a step costs when it is divided over processes, and what it would cost over machines.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "edelta/dist/ranks.h"

namespace edelta::bench {

// Each of the fastest step or exchange of all repetitions.
struct RankTimes {
  std::string model;
  int64_t ranks = 1;
  int64_t threads = 1;  // of every rank
  double step = 0;      // seconds: forward, backward, exchange and update
  double waiting = 0;   // seconds of that step in which a rank waits for the exchange
  double exchange = 0;  // seconds that the sum of all gradients takes alone; 0 for one rank
  double parameters = 0;
  double gflop = 0;  // of the whole step

  double share_waiting() const { return waiting / step; }
};

// Every rank calls it, with its own part of the same batch.
RankTimes bench_ranks(const models::ModelConfig& config, const BenchOptions& options,
                      dist::Ranks& ranks);

nlohmann::ordered_json to_json(const RankTimes& times);
// InputError that names `source` and the key.
RankTimes rank_times_from_json(const nlohmann::json& json, const std::string& source);

// A step on several machines, each with as many tokens as one has now: computed, not measured.
struct Projection {
  double parameters = 0;
  int64_t machines = 0;
  double gigabits = 0;  // of the network, a second
  double compute = 0;   // seconds
  double exchange = 0;  // seconds, were nothing of it hidden behind the backward pass

  // Of as many machines that need not exchange anything.
  double efficiency() const { return compute / (compute + exchange); }
};

// Compute: that of `one`, a process alone; for other sizes 6 floating-point operations a parameter
// and token at the rate that it reached. Exchange: a ring moves 2(m − 1)/m of the gradients' bytes
// through every machine's link, and handling them takes what it took `several` on one machine.
std::vector<Projection> project(const RankTimes& one, const RankTimes& several,
                                const std::vector<double>& parameters, int64_t tokens);

}  // namespace edelta::bench
