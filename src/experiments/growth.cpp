#include "edelta/experiments/growth.h"

#include <algorithm>
#include <chrono>

#include "edelta/experiments/bench.h"
#include "edelta/ops/hybrid.h"
#include "edelta/torch.h"

namespace edelta::experiments {
namespace {

using torch::Tensor;
using Clock = std::chrono::steady_clock;

constexpr int64_t kLength = 128;
constexpr int64_t kTokens = 4096;  // of a step, at least one sequence
constexpr int64_t kRepetitions = 2;

GrowthPoint measure(models::ModelConfig config, int64_t value, int64_t batch, int64_t length) {
  config.block_size = std::max(config.block_size, length);
  validate(config);
  const ModelBench bench = bench_model(
      config, {.batch = batch, .length = length, .repetitions = kRepetitions, .compare = false});
  const double step = bench.fused.step();
  return {value, batch, length, step, step / static_cast<double>(batch * length)};
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

Growth grow_length(const models::ModelConfig& config, const std::vector<int64_t>& lengths) {
  Growth growth{config.model, "T", {}};
  for (const int64_t length : lengths) {
    growth.points.push_back(
        measure(config, length, std::max<int64_t>(1, kTokens / length), length));
  }
  return growth;
}

Growth grow_width(const models::ModelConfig& config, const std::vector<int64_t>& widths) {
  Growth growth{config.model, "D", {}};
  for (const int64_t width : widths) {
    models::ModelConfig wide = config;
    wide.n_embd = width;
    growth.points.push_back(measure(wide, width, kTokens / kLength, kLength));
  }
  return growth;
}

Growth grow_streams(const models::ModelConfig& config, const std::vector<int64_t>& streams) {
  Growth growth{config.model, "n", {}};
  for (const int64_t n : streams) {
    models::ModelConfig split = config;
    split.n_streams = n;
    growth.points.push_back(measure(split, n, kTokens / kLength, kLength));
  }
  return growth;
}

Growth grow_batch(const models::ModelConfig& config, const std::vector<int64_t>& batches) {
  Growth growth{config.model, "batch", {}};
  for (const int64_t batch : batches) {
    growth.points.push_back(measure(config, batch, batch, kLength));
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

}  // namespace edelta::experiments
