#include "kernels/token_hybrid.h"

#include "kernels/fma_share.h"

namespace edelta::kernels {
namespace {

// tokens, streams, width of a stream: a small recursive model's.
constexpr TokenHybridShape kShape{6208, 4, 32};

void BM_TokenHybridForward(benchmark::State& state) {
  const auto x = filled(kShape.tokens * kShape.channels());
  const auto parameters = filled(kShape.tokens * kShape.parameters());
  std::vector<float> y(x.size()), gamma(kShape.tokens);
  for (auto _ : state) {
    token_hybrid_forward({kShape, x.data(), parameters.data(), y.data(), gamma.data()});
  }
}
BENCHMARK(BM_TokenHybridForward)->UseRealTime()->Unit(benchmark::kMillisecond);

void BM_TokenHybridBackward(benchmark::State& state) {
  const auto x = filled(kShape.tokens * kShape.channels()), dy = x;
  const auto parameters = filled(kShape.tokens * kShape.parameters());
  std::vector<float> dx(x.size()), dparameters(parameters.size());
  for (auto _ : state) {
    token_hybrid_backward(
        {kShape, x.data(), parameters.data(), dy.data(), nullptr, dx.data(), dparameters.data()});
  }
}
BENCHMARK(BM_TokenHybridBackward)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace edelta::kernels
