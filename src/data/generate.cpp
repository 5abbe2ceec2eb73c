#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/portable_math.h"
#include "base/random.h"
#include "edelta/base/machine.h"
#include "edelta/data/dataset.h"

namespace edelta::data {
namespace {

using base::portable_sincos;
using base::RandomStream;
using base::SinCos;

struct Trajectories {
  torch::Tensor x, y;
  std::vector<double> theta;
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

// v_{t+1} = R v_t from a random unit vector; the trajectory's angle.
double rotation_trajectory(const TaskOptions& options, RandomStream& random, double* positions) {
  const std::int64_t dim = options.dim;
  draw_unit_vector(random, positions, dim);
  const double range = options.theta_max - options.theta_min;
  const double theta = options.theta_min + range * random.uniform();
  std::int64_t i = 0, j = 1;
  if (options.planes == Planes::kRandom) {
    i = random.below(static_cast<std::uint32_t>(dim - 1));
    j = i + 1 + random.below(static_cast<std::uint32_t>(dim - 1 - i));
  }
  const std::int64_t last_pair = options.planes == Planes::kAll ? dim - 2 : 0;
  const SinCos angle = portable_sincos(theta);
  for (std::int64_t t = 0; t < options.steps; ++t) {
    const double* now = positions + t * dim;
    double* next = positions + (t + 1) * dim;
    std::copy(now, now + dim, next);
    for (std::int64_t pair = 0; pair <= last_pair; pair += 2)
      rotate(next, i + pair, j + pair, angle);
  }
  return theta;
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

// Fills positions 0 … T; the angle where there is one.
double fill_trajectory(const TaskOptions& options, RandomStream& random, double* positions) {
  if (options.task == "stability") {
    stability_trajectory(options, random, positions);
  } else if (options.task == "negation") {
    negation_trajectory(options, random, positions);
  } else {
    return rotation_trajectory(options, random, positions);
  }
  return 0;
}

Trajectories generate_split(const TaskOptions& options, base::Stream stream, std::int64_t count) {
  const std::int64_t values = options.steps * options.dim;
  Trajectories result{torch::empty({count, options.steps, options.dim}, torch::kFloat),
                      torch::empty({count, options.steps, options.dim}, torch::kFloat),
                      std::vector<double>(static_cast<std::size_t>(count))};
  auto* x = result.x.data_ptr<float>();
  auto* y = result.y.data_ptr<float>();
  const auto to_float = [](double value) { return static_cast<float>(value); };
  at::parallel_for(0, count, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> positions(static_cast<std::size_t>(values + options.dim));
    for (std::int64_t row = begin; row < end; ++row) {
      RandomStream random(options.seed, stream, static_cast<std::uint64_t>(row));
      result.theta[row] = fill_trajectory(options, random, positions.data());
      const double* first = positions.data();
      std::transform(first, first + values, x + row * values, to_float);
      std::transform(first + options.dim, first + options.dim + values, y + row * values, to_float);
    }
  });
  return result;
}

template <class Condition>
void add_stratum(Dataset& dataset, const char* name, const std::vector<double>& theta,
                 Condition condition) {
  Stratum stratum{name, {}};
  for (std::size_t row = 0; row < theta.size(); ++row) {
    if (condition(theta[row])) stratum.rows.push_back(static_cast<std::int64_t>(row));
  }
  if (!stratum.rows.empty()) dataset.val_strata.push_back(std::move(stratum));
}

}  // namespace

Dataset generate(const TaskOptions& options) {
  validate(options);
  // x and y in float32.
  const double values = static_cast<double>(options.dim) * static_cast<double>(options.steps) *
                        static_cast<double>(options.train + options.val);
  base::require_memory(
      8 * values,
      fmt::format("task {}: sequences of dim {}, steps {}, train {} and val {}", options.task,
                  options.dim, options.steps, options.train, options.val));
  const Trajectories train = generate_split(options, base::Stream::training_data, options.train);
  const Trajectories val = generate_split(options, base::Stream::validation_data, options.val);
  Dataset dataset{train.x, train.y, val.x, val.y, {}};
  if (options.task == "gyroscope") {
    add_stratum(dataset, "slow", val.theta, [](double theta) { return theta < 0.5; });
    add_stratum(dataset, "fast", val.theta, [](double theta) { return theta > 1.5; });
  }
  return dataset;
}

}  // namespace edelta::data
