// What generating a token takes: the weights go by once, and so do the keys and values.
#include "fastest.h"
#include "kernels/cached_attention.h"
#include "kernels/few_rows.h"
#include "kernels/fma_share.h"

namespace edelta::kernels {
namespace {

void BM_LinearFewRows(benchmark::State& state) {
  const int64_t rows = state.range(0), in = state.range(1), out = state.range(2);
  const auto x = filled(rows * in), weight = filled(out * in), norm = filled(in);
  std::vector<float> y(rows * out);
  LinearForward a;
  a.tokens = rows, a.in = in, a.out = out;
  a.x = x.data(), a.weight = weight.data(), a.norm_weight = norm.data(), a.y = y.data();
  for (auto _ : state) linear_few_rows(a);
  state.SetBytesProcessed(state.iterations() * in * out * sizeof(float));
}
// c_attn of the paper's width and of GPT-2's, and GPT-2's head.
BENCHMARK(BM_LinearFewRows)
    ->Args({1, 128, 384})
    ->Args({8, 128, 384})
    ->Args({1, 768, 2304})
    ->Args({1, 768, 50257})
    ->Apply(measure);

void BM_MlpFewRows(benchmark::State& state) {
  const int64_t rows = state.range(0), in = state.range(1), hidden = 4 * in;
  const auto x = filled(rows * in), fc = filled(hidden * in), proj = filled(in * hidden);
  std::vector<float> y(rows * in);
  MlpForward a;
  a.tokens = rows, a.in = in, a.hidden = hidden, a.out = in;
  a.x = x.data(), a.fc_weight = fc.data(), a.proj_weight = proj.data(), a.y = y.data();
  for (auto _ : state) mlp_few_rows(a);
  state.SetBytesProcessed(state.iterations() * 2 * in * hidden * sizeof(float));
}
BENCHMARK(BM_MlpFewRows)->Args({1, 128})->Args({8, 128})->Args({1, 768})->Apply(measure);

void BM_CachedAttention(benchmark::State& state) {
  constexpr int64_t kHeads = 4;
  const int64_t size = state.range(0), positions = state.range(1), width = kHeads * size;
  const auto query = filled(width), keys = filled(positions * width);
  const auto values = filled(positions * width);
  std::vector<float> out(width);
  const CachedAttention a{1,     kHeads,       size,        positions,     positions,
                          width, query.data(), keys.data(), values.data(), out.data()};
  for (auto _ : state) cached_attention(a);
  state.SetBytesProcessed(state.iterations() * 2 * positions * width * sizeof(float));
}
BENCHMARK(BM_CachedAttention)->Args({32, 256})->Args({64, 1024})->Apply(measure);

}  // namespace
}  // namespace edelta::kernels
