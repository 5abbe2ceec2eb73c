// What a step of a model on tokens does besides its layers: embedding, and dropout of its rows.
#include <algorithm>
#include <numeric>

#include "fastest.h"
#include "kernels/dropout.h"
#include "kernels/embedding.h"
#include "kernels/fma_share.h"

namespace edelta::kernels {
namespace {

constexpr int64_t kLength = 256;

// Tokens as uneven as those of text: low numbers often, high ones rarely.
std::vector<int64_t> uneven_tokens(int64_t count, int64_t words) {
  std::vector<int64_t> tokens(count);
  for (int64_t t = 0; t < count; ++t) {
    const int64_t drawn = t * 7919 % words;
    tokens[t] = drawn * drawn / words;
  }
  return tokens;
}

// tokens, width, words
void embedding_sizes(benchmark::internal::Benchmark* b) {
  b->Args({4096, 128, 65})->Args({2048, 256, 50257})->Args({1024, 768, 50257})->Apply(measure);
}

void BM_EmbeddingForward(benchmark::State& state) {
  const int64_t tokens = state.range(0), width = state.range(1), words = state.range(2);
  const auto token = uneven_tokens(tokens, words);
  const auto table = filled(words * width), positions = filled(kLength * width);
  std::vector<float> y(tokens * width);
  const EmbeddingForward a{tokens,       kLength,          width,   token.data(),
                           table.data(), positions.data(), y.data()};
  for (auto _ : state) embedding_forward(a);
  state.SetBytesProcessed(state.iterations() * 2 * tokens * width * sizeof(float));
}
BENCHMARK(BM_EmbeddingForward)->Apply(embedding_sizes);

void BM_EmbeddingBackward(benchmark::State& state) {
  const int64_t tokens = state.range(0), width = state.range(1), words = state.range(2);
  const auto token = uneven_tokens(tokens, words);
  std::vector<int64_t> order(tokens);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return token[a] < token[b]; });
  const auto dy = filled(tokens * width);
  std::vector<float> dwords(words * width), dpositions(kLength * width);
  const EmbeddingBackward a{tokens,       kLength,   width,         token.data(),
                            order.data(), dy.data(), dwords.data(), dpositions.data()};
  for (auto _ : state) embedding_backward(a);
  state.SetBytesProcessed(state.iterations() * 2 * tokens * width * sizeof(float));
}
BENCHMARK(BM_EmbeddingBackward)->Apply(embedding_sizes);

void BM_DropRows(benchmark::State& state) {
  const int64_t tokens = state.range(0), width = state.range(1);
  const auto x = filled(tokens * width);
  std::vector<float> y(tokens * width);
  const DropRows a{tokens, width, dropout_mask(0.2, /*key=*/1, /*site=*/1), x.data(), y.data()};
  for (auto _ : state) drop_rows(a);
  state.SetBytesProcessed(state.iterations() * 2 * tokens * width * sizeof(float));
}
BENCHMARK(BM_DropRows)->Args({16320, 128})->Args({2048, 256})->Apply(measure);

}  // namespace
}  // namespace edelta::kernels
