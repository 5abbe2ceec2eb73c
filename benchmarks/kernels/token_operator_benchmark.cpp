#include "kernels/iterative_cayley.h"
#include "kernels/mixer_weights.h"
#include "kernels/sinkhorn.h"

#include <random>
#include <vector>

#include "fastest.h"

namespace edelta::kernels {
namespace {

constexpr int64_t kTokens = 64 * 255;

// Three matrices of logits in each row, as JPmHC has them.
struct Tensors {
  explicit Tensors(int64_t streams)
      : shape{kTokens, streams, 3 * streams * streams},
        z(kTokens * shape.stride),
        dz(z.size()),
        h(kTokens * streams * streams),
        weights(2 * kTokens * streams) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (float& value : z) value = normal(random);
  }
  TokenOperatorShape shape;
  std::vector<float> z, dz, h, weights;
};

void count_tokens(benchmark::State& state) {
  state.counters["tokens"] =
      benchmark::Counter(kTokens, benchmark::Counter::kIsIterationInvariantRate);
}

void sinkhorn(benchmark::State& state, bool backward) {
  Tensors t(state.range(0));
  for (auto _ : state) {
    if (backward) {
      sinkhorn_backward({t.shape, 20, t.z.data(), t.h.data(), t.dz.data()});
    } else {
      sinkhorn_forward({t.shape, 20, t.z.data(), t.h.data()});
    }
  }
  count_tokens(state);
}
BENCHMARK_CAPTURE(sinkhorn, forward, false)->Arg(4)->Arg(8)->Apply(measure);
BENCHMARK_CAPTURE(sinkhorn, backward, true)->Arg(4)->Arg(8)->Apply(measure);

void iterative_cayley(benchmark::State& state, bool backward) {
  Tensors t(state.range(0));
  for (auto _ : state) {
    if (backward) {
      iterative_cayley_backward({t.shape, 2, 0.1F, t.z.data(), t.h.data(), t.dz.data()});
    } else {
      iterative_cayley_forward({t.shape, 2, 0.1F, t.z.data(), t.h.data()});
    }
  }
  count_tokens(state);
}
BENCHMARK_CAPTURE(iterative_cayley, forward, false)->Arg(4)->Arg(8)->Apply(measure);
BENCHMARK_CAPTURE(iterative_cayley, backward, true)->Arg(4)->Arg(8)->Apply(measure);

void mixer_weights(benchmark::State& state, bool backward) {
  Tensors t(state.range(0));
  const int64_t entries = state.range(0) * state.range(0);
  float* pre = t.weights.data();
  float* post = pre + kTokens * state.range(0);
  for (auto _ : state) {
    if (backward) {
      mixer_weights_backward({t.shape, t.z.data(), t.z.data() + entries, pre, post, t.dz.data(),
                              t.dz.data() + entries});
    } else {
      mixer_weights_forward({t.shape, t.z.data(), t.z.data() + entries, pre, post});
    }
  }
  count_tokens(state);
}
BENCHMARK_CAPTURE(mixer_weights, forward, false)->Arg(4)->Arg(8)->Apply(measure);
BENCHMARK_CAPTURE(mixer_weights, backward, true)->Arg(4)->Arg(8)->Apply(measure);

}  // namespace
}  // namespace edelta::kernels
