// The recursive puzzle models that are timed: small ones on 9×9 grids.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bench/bench.h"
#include "edelta/models/recursive_config.h"

namespace edelta::bench {

struct PuzzleModel {
  const char* name;
  bool mlp_t;
  models::Mixer mixer;
};

std::span<const PuzzleModel> puzzle_models();
bool is_puzzle_model(const std::string& name);

// InputError where the name or a size does not suit; 0: its own positions or width.
models::RecursiveConfig puzzle_config(const std::string& name, int64_t positions, int64_t width);

// A whole step of adaptive computation: forward, backward, optimiser.
ModelBench bench_puzzle_model(const std::string& name, const models::RecursiveConfig& config,
                              const BenchOptions& options);

}  // namespace edelta::bench
