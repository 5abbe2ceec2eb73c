#include "bench/growth.h"

#include <algorithm>
#include <chrono>

#include "bench/bench.h"
#include "edelta/ops/hybrid.h"
#include "edelta/torch.h"

namespace edelta::bench {
namespace {

using torch::Tensor;
using Clock = std::chrono::steady_clock;

constexpr int64_t kLength = 128;
constexpr int64_t kTokens = 2048;  // of a step, at least one sequence
constexpr int64_t kRepetitions = 3;

GrowthPoint measure(models::ModelConfig config, int64_t value, int64_t batch, int64_t length,
                    bool compare) {
  config.block_size = std::max(config.block_size, length);
  validate(config);
  const ModelBench bench = bench_model(
      config, {.batch = batch, .length = length, .repetitions = kRepetitions, .compare = compare});
  const double step = bench.fused.step();
  GrowthPoint point{value, batch, length, step, step / static_cast<double>(batch * length), {}};
  if (bench.composite) point.composite = bench.composite->step();
  return point;
}

const char* name(Dimension dimension) {
  switch (dimension) {
    case Dimension::length:
      return "T";
    case Dimension::width:
      return "D";
    case Dimension::streams:
      return "n";
    case Dimension::batch:
      break;
  }
  return "batch";
}

// Seconds of the fastest of a few evaluations with gradient.
template <class Evaluate>
double fastest(const Evaluate& evaluate) {
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    const auto start = Clock::now();
    evaluate().sum().backward();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = i == 0 ? seconds : std::min(best, seconds);
  }
  return best;
}

Tensor solved_rotation(const Tensor& u, const Tensor& v, const Tensor& beta) {
  const Tensor a = u.unsqueeze(-1) * v.unsqueeze(-2);
  const Tensor m = beta.unsqueeze(-1) / 2 * (a - a.transpose(-2, -1));
  const Tensor identity = torch::eye(u.size(-1), u.options().requires_grad(false));
  return torch::linalg_solve(identity + m, identity - m);
}

}  // namespace

Growth grow(const models::ModelConfig& config, Dimension dimension,
            const std::vector<int64_t>& values, bool compare,
            const std::function<void(const std::string& what, int64_t value)>& on_value) {
  Growth growth{config.model, name(dimension), {}};
  for (const int64_t value : values) {
    if (on_value) on_value(growth.what, value);
    models::ModelConfig grown = config;
    int64_t length = kLength;
    if (dimension == Dimension::length) length = value;
    if (dimension == Dimension::width) grown.n_embd = value;
    if (dimension == Dimension::streams) grown.n_streams = value;
    const int64_t batch =
        dimension == Dimension::batch ? value : std::max<int64_t>(1, kTokens / length);
    growth.points.push_back(measure(grown, value, batch, length, compare));
  }
  return growth;
}

std::vector<CayleyGrowthPoint> grow_cayley(const std::vector<int64_t>& streams, int64_t operators) {
  std::vector<CayleyGrowthPoint> points;
  torch::manual_seed(1);
  for (const int64_t n : streams) {
    const auto random = [&](int64_t size, torch::ScalarType type) {
      return torch::randn({operators, size}, torch::TensorOptions(type).requires_grad(true));
    };
    const auto closed = [&, u = random(n, torch::kFloat32), v = random(n, torch::kFloat32),
                         k = random(n, torch::kFloat32), gamma = random(1, torch::kFloat32)] {
      return ops::hybrid_matrix(u, v, gamma.exp(), k, gamma.sigmoid());
    };
    const auto solve = [u = random(n, torch::kFloat64), v = random(n, torch::kFloat64),
                        beta = random(1, torch::kFloat64)] {
      return solved_rotation(u, v, beta.exp());
    };
    points.push_back({n, fastest(closed), fastest(solve)});
  }
  return points;
}

}  // namespace edelta::bench
