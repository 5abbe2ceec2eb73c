// The operators of the connections, one for each sequence or for each token.
#include <vector>

#include "fastest.h"
#include "kernels/delta.h"
#include "kernels/hybrid.h"
#include "kernels/pooling.h"

namespace edelta::kernels {
namespace {

constexpr int64_t kBatch = 64;
constexpr int64_t kTokens = 255;

std::vector<float> filled(int64_t count) { return std::vector<float>(count, 0.5F); }

void sequence_mean(benchmark::State& state, bool backward) {
  const int64_t width = state.range(0);
  const auto x = filled(kBatch * kTokens * width);
  auto dx = x, mean = filled(kBatch * width);
  for (auto _ : state) {
    if (backward) {
      sequence_mean_backward({kBatch, kTokens, width, mean.data(), x.data(), dx.data()});
    } else {
      sequence_mean_forward({kBatch, kTokens, width, x.data(), mean.data()});
    }
  }
}
BENCHMARK_CAPTURE(sequence_mean, forward, false)->Arg(128)->Arg(512)->Apply(measure);
BENCHMARK_CAPTURE(sequence_mean, backward, true)->Arg(128)->Arg(512)->Apply(measure);

void prefix_mean(benchmark::State& state, bool backward) {
  const int64_t width = state.range(0);
  const auto x = filled(kBatch * kTokens * width);
  auto y = x;
  for (auto _ : state) {
    if (backward) {
      prefix_mean_backward({kBatch, kTokens, width, x.data(), y.data()});
    } else {
      prefix_mean_forward({kBatch, kTokens, width, x.data(), y.data()});
    }
  }
}
BENCHMARK_CAPTURE(prefix_mean, forward, false)->Arg(128)->Arg(512)->Apply(measure);
BENCHMARK_CAPTURE(prefix_mean, backward, true)->Arg(128)->Arg(512)->Apply(measure);

void delta(benchmark::State& state, bool backward) {
  const DeltaShape shape{kBatch, kTokens, state.range(0), 128};
  const int64_t operators = kBatch * shape.operators;
  const auto x = filled(kBatch * kTokens * shape.width), dy = x;
  const auto k = filled(operators * shape.width), beta = filled(operators);
  auto y = x, dk = k, dbeta = beta;
  for (auto _ : state) {
    if (backward) {
      delta_backward(
          {shape, x.data(), k.data(), beta.data(), dy.data(), y.data(), dk.data(), dbeta.data()});
    } else {
      delta_forward({shape, x.data(), k.data(), beta.data(), y.data()});
    }
  }
}
BENCHMARK_CAPTURE(delta, forward, false)->Arg(1)->Arg(kTokens)->Apply(measure);
BENCHMARK_CAPTURE(delta, backward, true)->Arg(1)->Arg(kTokens)->Apply(measure);

void hybrid(benchmark::State& state, bool backward) {
  const int64_t operators = state.range(0), n = state.range(1);
  auto u = filled(operators * n);
  for (size_t i = 0; i < u.size(); i += 3) u[i] = -1;
  const auto v = filled(operators * n), k = v;
  const auto beta = filled(operators), gamma = beta, dg = filled(operators * n * n);
  auto g = dg, du = u, dv = v, dk = k, dbeta = beta, dgamma = gamma;
  for (auto _ : state) {
    if (backward) {
      hybrid_backward({operators, n, u.data(), v.data(), beta.data(), k.data(), gamma.data(),
                       dg.data(), du.data(), dv.data(), dbeta.data(), dk.data(), dgamma.data()});
    } else {
      hybrid_forward(
          {operators, n, u.data(), v.data(), beta.data(), k.data(), gamma.data(), g.data()});
    }
  }
}
BENCHMARK_CAPTURE(hybrid, forward, false)
    ->Args({kBatch, 4})
    ->Args({kBatch * kTokens, 4})
    ->Args({kBatch, 64})
    ->Apply(measure);
BENCHMARK_CAPTURE(hybrid, backward, true)
    ->Args({kBatch, 4})
    ->Args({kBatch * kTokens, 4})
    ->Args({kBatch, 64})
    ->Apply(measure);

}  // namespace
}  // namespace edelta::kernels
