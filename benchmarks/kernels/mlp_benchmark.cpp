#include "kernels/mlp.h"

#include "kernels/fma_share.h"

namespace edelta::kernels {
namespace {

// tokens, width, hidden: the paper's width; small streams; pooled inputs of the operator nets; a
// GPT-2-sized layer, whose weights exceed L2.
void sizes(benchmark::internal::Benchmark* b) {
  b->Args({16320, 128, 512})->Args({16320, 32, 128})->Args({64, 128, 32})->Args({2048, 768, 3072});
  b->UseRealTime()->Unit(benchmark::kMillisecond);
}

struct Weights {
  Weights(int64_t width, int64_t hidden)
      : fc(filled(hidden * width)), proj(filled(width * hidden)), norm(filled(width)) {}
  std::vector<float> fc, proj, norm;
};

void BM_MlpForward(benchmark::State& state) {
  const int64_t tokens = state.range(0), width = state.range(1), hidden = state.range(2);
  const Weights weights(width, hidden);
  const auto x = filled(tokens * width);
  std::vector<float> y(tokens * width), mean(tokens), rstd(tokens), pre(tokens * hidden);
  MlpForward a;
  a.tokens = tokens, a.in = a.out = width, a.hidden = hidden;
  a.x = a.residual = x.data(), a.norm_weight = weights.norm.data();
  a.fc_weight = weights.fc.data(), a.proj_weight = weights.proj.data();
  a.y = y.data(), a.mean = mean.data(), a.rstd = rstd.data(), a.pre_activation = pre.data();
  for (auto _ : state) mlp_forward(a);
  report_rate(state, 4.0 * tokens * width * hidden);
}
BENCHMARK(BM_MlpForward)->Apply(sizes);

void BM_MlpBackward(benchmark::State& state) {
  const int64_t tokens = state.range(0), width = state.range(1), hidden = state.range(2);
  const Weights weights(width, hidden);
  const auto x = filled(tokens * width), dy = filled(tokens * width), pre = filled(tokens * hidden);
  const std::vector<float> mean(tokens), rstd(tokens, 1.0F);
  std::vector<float> dx(tokens * width);
  Weights gradients(width, hidden);
  MlpBackward a;
  a.tokens = tokens, a.in = a.out = width, a.hidden = hidden;
  a.dy = dy.data(), a.x = x.data(), a.pre_activation = pre.data();
  a.norm_weight = weights.norm.data(), a.mean = mean.data(), a.rstd = rstd.data();
  a.fc_weight = weights.fc.data(), a.proj_weight = weights.proj.data();
  a.straight = a.dy;
  a.dx = dx.data(), a.dfc_weight = gradients.fc.data(), a.dproj_weight = gradients.proj.data();
  a.dnorm_weight = gradients.norm.data();
  for (auto _ : state) mlp_backward(a);
  report_rate(state, 8.0 * tokens * width * hidden);
}
BENCHMARK(BM_MlpBackward)->Apply(sizes);

}  // namespace
}  // namespace edelta::kernels
