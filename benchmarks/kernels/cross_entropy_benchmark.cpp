#include "kernels/cross_entropy.h"

#include "kernels/fma_share.h"

namespace edelta::kernels {
namespace {

// tokens, in, words: characters, a small and GPT-2's byte-pair vocabulary; then with gradients (1)
// or the losses alone (0).
void sizes(benchmark::internal::Benchmark* b) {
  for (const int64_t gradients : {0, 1}) {
    b->Args({16384, 128, 65, gradients})
        ->Args({4096, 256, 4096, gradients})
        ->Args({2048, 256, 50257, gradients})
        ->Args({1024, 768, 50257, gradients});
  }
  b->UseRealTime()->Unit(benchmark::kMillisecond);
}

void BM_CrossEntropy(benchmark::State& state) {
  const int64_t tokens = state.range(0), in = state.range(1), words = state.range(2);
  const bool gradients = state.range(3) != 0;
  const auto x = filled(tokens * in), weight = filled(words * in), norm = filled(in);
  std::vector<int64_t> target(tokens);
  for (int64_t t = 0; t < tokens; ++t) target[t] = t * 7919 % words;
  std::vector<float> loss(tokens), dx(tokens * in), dnorm(in), dweight(words * in);
  CrossEntropy a;
  a.tokens = tokens, a.in = in, a.words = words;
  a.x = x.data(), a.weight = weight.data(), a.norm_weight = norm.data();
  a.target = target.data(), a.loss = loss.data();
  if (gradients) a.dx = dx.data(), a.dweight = dweight.data(), a.dnorm_weight = dnorm.data();
  for (auto _ : state) cross_entropy(a);
  report_rate(state, (gradients ? 6.0 : 2.0) * tokens * in * words);
}
BENCHMARK(BM_CrossEntropy)->Apply(sizes);

}  // namespace
}  // namespace edelta::kernels
