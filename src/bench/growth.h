// How the time of a step grows with the size of the problem.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "edelta/models/config.h"

namespace edelta::bench {

struct GrowthPoint {
  int64_t value;                    // of what grows
  int64_t batch;                    // sequences, as many as keep the work bounded
  int64_t length;                   // positions
  double step;                      // seconds of a fused training step, fastest of the repetitions
  double per_token;                 // seconds
  std::optional<double> composite;  // seconds of the same step by libtorch's operations
};

enum class Dimension { length, width, streams, batch };

// One of a model's dimensions grows while the others stay.
struct Growth {
  std::string model;
  std::string what;  // "T", "D", "n" or "batch"
  std::vector<GrowthPoint> points;
};
// `on_value` is told each value before it is measured; with `compare`, composite steps are measured
// between the fused ones.
Growth grow(const models::ModelConfig& config, Dimension dimension,
            const std::vector<int64_t>& values, bool compare,
            const std::function<void(const std::string& what, int64_t value)>& on_value = {});

// Matrices of `operators` operators on n streams, forward and backward: the hybrid in closed form,
// as the models compute it, against the linear solve for its rotation alone, which the paper names
// as its limit. Both work in float64 inside.
struct CayleyGrowthPoint {
  int64_t streams;
  double closed_form;  // seconds
  double solve;        // seconds
};
std::vector<CayleyGrowthPoint> grow_cayley(const std::vector<int64_t>& streams,
                                           int64_t operators = 4096);

}  // namespace edelta::bench
