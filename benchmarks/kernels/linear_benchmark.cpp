#include "kernels/linear.h"

#include "kernels/fma_share.h"

namespace edelta::kernels {
namespace {

// tokens, in, out: c_attn and c_proj of the paper's width, JPmHC's router and sub-layer.
void sizes(benchmark::internal::Benchmark* b) {
  b->Args({16320, 128, 384})
      ->Args({16320, 128, 128})
      ->Args({16320, 512, 48})
      ->Args({16320, 32, 96});
  b->Args({16320, 512, 1536})->UseRealTime()->Unit(benchmark::kMillisecond);
}

void BM_LinearForward(benchmark::State& state) {
  const int64_t tokens = state.range(0), in = state.range(1), out = state.range(2);
  const auto x = filled(tokens * in), weight = filled(out * in), norm = filled(in);
  std::vector<float> y(tokens * out), mean(tokens), rstd(tokens);
  LinearForward a;
  a.tokens = tokens, a.in = in, a.out = out;
  a.x = x.data(), a.weight = weight.data(), a.norm_weight = norm.data();
  a.y = y.data(), a.mean = mean.data(), a.rstd = rstd.data();
  for (auto _ : state) linear_forward(a);
  report_rate(state, 2.0 * tokens * in * out);
}
BENCHMARK(BM_LinearForward)->Apply(sizes);

void BM_LinearBackward(benchmark::State& state) {
  const int64_t tokens = state.range(0), in = state.range(1), out = state.range(2);
  const auto x = filled(tokens * in), weight = filled(out * in), norm = filled(in);
  const auto dy = filled(tokens * out);
  const std::vector<float> mean(tokens), rstd(tokens, 1.0F);
  std::vector<float> dx(tokens * in), dweight(out * in), dnorm(in);
  LinearBackward a;
  a.tokens = tokens, a.in = in, a.out = out;
  a.dy = dy.data(), a.x = x.data(), a.weight = weight.data(), a.norm_weight = norm.data();
  a.mean = mean.data(), a.rstd = rstd.data();
  a.dx = dx.data(), a.dweight = dweight.data(), a.dnorm_weight = dnorm.data();
  for (auto _ : state) linear_backward(a);
  report_rate(state, 4.0 * tokens * in * out);
}
BENCHMARK(BM_LinearBackward)->Apply(sizes);

}  // namespace
}  // namespace edelta::kernels
