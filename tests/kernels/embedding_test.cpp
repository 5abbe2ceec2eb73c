#include "kernels/embedding.h"

#include <algorithm>
#include <numeric>

#include "kernels/close.h"

namespace edelta::kernels {
namespace {

void check(int64_t batch, int64_t length, int64_t width, int64_t vocabulary) {
  const int64_t tokens = batch * length;
  const auto words = random_values(vocabulary * width, 1);
  const auto positions = random_values(length * width, 2);
  const auto dy = random_values(tokens * width, 3);
  std::vector<int64_t> token(tokens), order(tokens);
  for (int64_t i = 0; i < tokens; ++i) token[i] = i * i * 7919 % vocabulary;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return token[a] < token[b]; });

  auto y = unwritten(tokens * width), dpositions = unwritten(length * width);
  auto dwords = random_values(vocabulary * width, 4);
  std::vector<double> expected_y(tokens * width), expected_dpositions(length * width);
  auto expected_dwords = widen(dwords);
  for (int64_t i = 0; i < tokens; ++i) {
    for (int64_t c = 0; c < width; ++c) {
      const int64_t word = token[i] * width + c, position = i % length * width + c;
      expected_y[i * width + c] = double{words[word]} + positions[position];
      expected_dwords[word] += dy[i * width + c];
      expected_dpositions[position] += dy[i * width + c];
    }
  }
  embedding_forward(
      {tokens, length, width, token.data(), words.data(), positions.data(), y.data()});
  embedding_backward({tokens, length, width, token.data(), order.data(), dy.data(), dwords.data(),
                      dpositions.data()});
  expect_close(y, expected_y, 1e-6, "y");
  expect_close(dwords, expected_dwords, 1e-5, "dwords");
  expect_close(dpositions, expected_dpositions, 1e-5, "dpositions");
}

TEST(Embedding, MatchesTheDefinition) {
  with_threads([] {
    check(1, 1, 1, 1);
    check(3, 7, 20, 2);
    check(4, 33, 17, 65);
    check(2, 5, 24, 5000);
  });
}

}  // namespace
}  // namespace edelta::kernels
