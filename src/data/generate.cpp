#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/portable_math.h"
#include "base/random.h"
#include "edelta/base/machine.h"
#include "edelta/data/dataset.h"

namespace edelta::data {
namespace {

using base::portable_sincos;
using base::RandomStream;
using base::SinCos;

// What a trajectory was drawn with, where its task has it.
struct Drawn {
  double theta = 0;
  std::int64_t flip = 0;    // the position whose cue announces it
  bool reflection = false;  // and not a change of sign
};

struct Trajectories {
  torch::Tensor x, y;
  std::vector<Drawn> drawn;
};

void draw_unit_vector(RandomStream& random, double* out, std::int64_t dim) {
  double square = 0;
  while (square == 0) {
    for (std::int64_t i = 0; i < dim; ++i) {
      out[i] = random.normal();
      square += out[i] * out[i];
    }
  }
  const double norm = std::sqrt(square);
  for (std::int64_t i = 0; i < dim; ++i) out[i] /= norm;
}

// R_ij(θ): −sin θ in row i.
void rotate(double* v, std::int64_t i, std::int64_t j, SinCos theta) {
  const double v_i = v[i], v_j = v[j];
  v[i] = theta.cos * v_i - theta.sin * v_j;
  v[j] = theta.sin * v_i + theta.cos * v_j;
}

// The rotation R of a trajectory.
struct Turn {
  double theta;
  SinCos angle;
  std::int64_t i, j;       // the first plane
  std::int64_t last_pair;  // planes (i + pair, j + pair) for pair = 0, 2, … up to this

  void operator()(double* v) const {
    for (std::int64_t pair = 0; pair <= last_pair; pair += 2) rotate(v, i + pair, j + pair, angle);
  }
};

Turn draw_turn(const TaskOptions& options, RandomStream& random, std::int64_t dim) {
  const double range = options.theta_max - options.theta_min;
  const double theta = options.theta_min + range * random.uniform();
  std::int64_t i = 0, j = 1;
  if (options.planes == Planes::kRandom) {
    i = random.below(static_cast<std::uint32_t>(dim - 1));
    j = i + 1 + random.below(static_cast<std::uint32_t>(dim - 1 - i));
  }
  return {theta, portable_sincos(theta), i, j, options.planes == Planes::kAll ? dim - 2 : 0};
}

// v_{t+1} = R v_t from a random unit vector.
Drawn rotation_trajectory(const TaskOptions& options, RandomStream& random, double* positions) {
  const std::int64_t dim = options.dim;
  draw_unit_vector(random, positions, dim);
  const Turn turn = draw_turn(options, random, dim);
  for (std::int64_t t = 0; t < options.steps; ++t) {
    const double* now = positions + t * dim;
    double* next = positions + (t + 1) * dim;
    std::copy(now, now + dim, next);
    turn(next);
  }
  return {.theta = turn.theta};
}

// The direction that reversal reflects along: the task's, the same for all trajectories.
std::vector<double> reflection_direction(const TaskOptions& options) {
  std::vector<double> k(static_cast<std::size_t>(options.dim - 1));
  RandomStream random(options.seed, base::Stream::task_rule, 0);
  draw_unit_vector(random, k.data(), options.dim - 1);
  return k;
}

// v − 2 k (k·v).
void reflect(double* v, const std::vector<double>& k) {
  double along = 0;
  for (std::size_t i = 0; i < k.size(); ++i) along += k[i] * v[i];
  for (std::size_t i = 0; i < k.size(); ++i) v[i] -= 2 * along * k[i];
}

// v_{t+1} = S R v_t; S = I until the cue, the last coordinate, announces −I or the reflection along
// k.
Drawn reversal_trajectory(const TaskOptions& options, const std::vector<double>& k,
                          RandomStream& random, double* positions) {
  const std::int64_t dim = options.dim, state = dim - 1;
  draw_unit_vector(random, positions, state);
  const Turn turn = draw_turn(options, random, state);
  const std::int64_t first = options.steps / 4, last = 3 * options.steps / 4;
  const std::int64_t flip = first + random.below(static_cast<std::uint32_t>(last - first + 1));
  const bool reflection = random.below(2) == 1;
  for (std::int64_t t = 0; t < options.steps; ++t) {
    const double* now = positions + t * dim;
    double* next = positions + (t + 1) * dim;
    std::copy(now, now + state, next);
    turn(next);
    if (t < flip) continue;
    if (reflection) {
      reflect(next, k);
    } else {
      std::transform(next, next + state, next, std::negate<>());
    }
  }
  for (std::int64_t t = 0; t <= options.steps; ++t) positions[t * dim + state] = 0;
  positions[flip * dim + state] = reflection ? -1 : 1;
  return {turn.theta, flip, reflection};
}

// Every position is the key plus noise of its own.
void stability_trajectory(const TaskOptions& options, RandomStream& random, double* positions) {
  std::vector<double> key(static_cast<std::size_t>(options.dim));
  draw_unit_vector(random, key.data(), options.dim);
  for (std::int64_t t = 0; t <= options.steps; ++t) {
    for (const double value : key) *positions++ = value + options.noise * random.normal();
  }
}

void negation_trajectory(const TaskOptions& options, RandomStream& random, double* positions) {
  for (std::int64_t i = 0; i < options.dim; ++i) {
    positions[i] = random.normal();
    positions[options.dim + i] = -positions[i];
  }
}

// Fills positions 0 … T.
Drawn fill_trajectory(const TaskOptions& options, const std::vector<double>& k,
                      RandomStream& random, double* positions) {
  if (options.task == "stability") {
    stability_trajectory(options, random, positions);
  } else if (options.task == "negation") {
    negation_trajectory(options, random, positions);
  } else if (options.task == "reversal") {
    return reversal_trajectory(options, k, random, positions);
  } else {
    return rotation_trajectory(options, random, positions);
  }
  return {};
}

Trajectories generate_split(const TaskOptions& options, base::Stream stream, std::int64_t count) {
  const std::int64_t values = options.steps * options.dim;
  Trajectories result{torch::empty({count, options.steps, options.dim}, torch::kFloat),
                      torch::empty({count, options.steps, options.dim}, torch::kFloat),
                      std::vector<Drawn>(static_cast<std::size_t>(count))};
  auto* x = result.x.data_ptr<float>();
  auto* y = result.y.data_ptr<float>();
  const std::vector<double> k =
      has_cue(options) ? reflection_direction(options) : std::vector<double>();
  const auto to_float = [](double value) { return static_cast<float>(value); };
  at::parallel_for(0, count, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> positions(static_cast<std::size_t>(values + options.dim));
    for (std::int64_t row = begin; row < end; ++row) {
      RandomStream random(options.seed, stream, static_cast<std::uint64_t>(row));
      result.drawn[row] = fill_trajectory(options, k, random, positions.data());
      const double* first = positions.data();
      std::transform(first, first + values, x + row * values, to_float);
      std::transform(first + options.dim, first + options.dim + values, y + row * values, to_float);
    }
  });
  // Nobody can tell when a cue comes.
  if (has_cue(options)) result.y.select(2, options.dim - 1).zero_();
  return result;
}

void add(Stratum stratum, Dataset& dataset) {
  if (!stratum.rows.empty()) dataset.val_strata.push_back(std::move(stratum));
}

// The trajectories for which `condition` holds.
template <class Condition>
void add_rows(Dataset& dataset, const char* name, const std::vector<Drawn>& drawn,
              Condition condition) {
  Stratum stratum{name, {}};
  for (std::size_t row = 0; row < drawn.size(); ++row) {
    if (condition(drawn[row])) stratum.rows.push_back(static_cast<std::int64_t>(row));
  }
  add(std::move(stratum), dataset);
}

// Of every trajectory `positions_of` it, where there are any.
template <class PositionsOf>
void add_positions(Dataset& dataset, const char* name, const std::vector<Drawn>& drawn,
                   PositionsOf positions_of) {
  Stratum stratum{name, {}};
  for (std::size_t row = 0; row < drawn.size(); ++row) {
    const Positions positions = positions_of(drawn[row]);
    if (positions.begin == positions.end) continue;
    stratum.rows.push_back(static_cast<std::int64_t>(row));
    stratum.positions.push_back(positions);
  }
  add(std::move(stratum), dataset);
}

void add_strata(const TaskOptions& options, const std::vector<Drawn>& drawn, Dataset& dataset) {
  if (options.task == "gyroscope") {
    add_rows(dataset, "slow", drawn, [](const Drawn& each) { return each.theta < 0.5; });
    add_rows(dataset, "fast", drawn, [](const Drawn& each) { return each.theta > 1.5; });
  }
  if (options.task == "reversal") {
    add_rows(dataset, "sign", drawn, [](const Drawn& each) { return !each.reflection; });
    add_rows(dataset, "reflection", drawn, [](const Drawn& each) { return each.reflection; });
    add_positions(dataset, "before", drawn,
                  [](const Drawn& each) { return Positions{0, each.flip}; });
    add_positions(dataset, "at the flip", drawn,
                  [](const Drawn& each) { return Positions{each.flip, each.flip + 1}; });
    add_positions(dataset, "after", drawn,
                  [&](const Drawn& each) { return Positions{each.flip + 1, options.steps}; });
  }
}

}  // namespace

void require_memory(const TaskOptions& options) {
  // x and y in float32.
  const double values = static_cast<double>(options.dim) * static_cast<double>(options.steps) *
                        static_cast<double>(options.train + options.val);
  base::require_memory(
      8 * values,
      fmt::format("task {}: sequences of dim {}, steps {}, train {} and val {}", options.task,
                  options.dim, options.steps, options.train, options.val));
}

Dataset generate(const TaskOptions& options) {
  validate(options);
  require_memory(options);
  const Trajectories train = generate_split(options, base::Stream::training_data, options.train);
  const Trajectories val = generate_split(options, base::Stream::validation_data, options.val);
  Dataset dataset{train.x, train.y, val.x, val.y, {}};
  add_strata(options, val.drawn, dataset);
  return dataset;
}

}  // namespace edelta::data
