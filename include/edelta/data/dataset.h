// Sequences to learn from.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "edelta/data/task.h"

namespace edelta::data {

// From `begin` to before `end`.
struct Positions {
  std::int64_t begin = 0, end = 0;
  bool operator==(const Positions&) const = default;
};

// What of the validation split has its loss also reported on its own: trajectories, or some
// positions of each.
struct Stratum {
  std::string name;
  std::vector<std::int64_t> rows;
  std::vector<Positions> positions = {};  // of each row; empty: all positions of every row
};

// x and y are float32 [N, T, dim]: positions 0 … T−1 and 1 … T of each trajectory; where x has a
// cue, y has 0.
struct Dataset {
  torch::Tensor train_x, train_y, val_x, val_y;
  std::vector<Stratum> val_strata;
};

// Bit-identical on every machine and with any number of threads: each trajectory is computed in
// double precision from its own random stream, keyed by seed, split and index, and rounded to
// float32 at the end. `gyroscope` has the strata `slow` (θ < 0.5) and `fast` (θ > 1.5), `reversal`
// the kinds of its flips, `sign` and `reflection`, and the positions `before`, `at the flip` and
// `after`; those that are empty are left out.
Dataset generate(const TaskOptions& options);

// InputError where this machine has not the memory for that.
void require_memory(const TaskOptions& options);

// train_x.npy, train_y.npy, val_x.npy, val_y.npy and task.json (options and strata): a folder that
// appears whole or not at all. InputError where it is there and not empty, unless `replace` is set
// and it holds nothing but such files.
void write_dataset(const std::filesystem::path& folder, const Dataset& dataset,
                   const TaskOptions& options, bool replace = false);
// The same check, before any work is done.
void require_free(const std::filesystem::path& folder, bool replace);

// The same four files, a user's own as well: float32 or float64, [N, T, dim], or [N, dim] for T
// = 1. x and y must agree in shape, train and val in T and dim, and every value must be a finite
// float32. Strata come from task.json where there is one.
Dataset read_dataset(const std::filesystem::path& folder);

// One such array as float32 [N, T, dim]; InputError with the name of its source.
torch::Tensor as_sequences(const torch::Tensor& array, const std::string& source);

}  // namespace edelta::data
