// Embedded tokens, and the way their gradients meet those of a tied head.
#include "edelta/ops/embedding.h"

#include <gtest/gtest.h>

#include "edelta/base/error.h"
#include "edelta/base/machine.h"
#include "expect_error.h"
#include "gradient_check.h"

namespace edelta::ops {
namespace {

using test::normal;
using torch::Tensor;

// y and, where the words are used once more, a function of those.
std::vector<Tensor> gradients(const Tensor& token, const Tensor& words, const Tensor& positions,
                              bool tied, torch::ScalarType dtype) {
  const Tensor w = words.detach().to(dtype).requires_grad_();
  const Tensor p = positions.detach().to(dtype).requires_grad_();
  const auto [y, passed_on] = embedding(token, w, p);
  const Tensor of_y = torch::sin(torch::arange(y.numel(), torch::kFloat64)).view(y.sizes());
  Tensor sum = (y * of_y.to(dtype)).sum();
  if (tied) sum = sum + passed_on.square().sum();
  return torch::autograd::grad({sum}, {w, p});
}

struct Case {
  int64_t batch, length, width, words, positions;
};

class Embeddings : public testing::TestWithParam<std::tuple<Case, int64_t>> {};

TEST_P(Embeddings, FusedEqualsComposite) {
  const auto [c, threads] = GetParam();
  const int64_t before = base::threads();
  base::set_threads(threads);
  torch::manual_seed(4);
  const Tensor token = torch::randint(c.words, {c.batch, c.length}, torch::kInt64);
  const Tensor words = normal({c.words, c.width}), positions = normal({c.positions, c.width});
  const Tensor expected = embedding(token, words, positions).y;
  const Tensor found = embedding(token, words.to(torch::kFloat32), positions.to(torch::kFloat32)).y;
  EXPECT_LT(test::difference(found, expected), 1e-6);
  for (const bool tied : {false, true}) {
    const auto exact = gradients(token, words, positions, tied, torch::kFloat64);
    const auto fused = gradients(token, words, positions, tied, torch::kFloat32);
    const auto again = gradients(token, words, positions, tied, torch::kFloat32);
    for (size_t i = 0; i < exact.size(); ++i) {
      EXPECT_LT(test::relative_difference(fused[i], exact[i]), 1e-6) << i << (tied ? " tied" : "");
      EXPECT_TRUE(torch::equal(fused[i], again[i]));
    }
  }
  base::set_threads(before);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Embeddings,
                         testing::Combine(testing::Values(Case{1, 1, 1, 1, 1}, Case{3, 7, 5, 2, 9},
                                                          Case{4, 33, 20, 65, 33},
                                                          Case{2, 9, 24, 50257, 16}),
                                          testing::Values(1, 2)));

TEST(Embedding, CompositeGradientsAgreeWithDifferences) {
  torch::manual_seed(5);
  const Tensor token = torch::tensor({{0, 3, 3}, {1, 0, 3}}, torch::kInt64);
  test::expect_gradient([&](const auto& a) { return embedding(token, a[0], a[1]).y; },
                        {normal({5, 4}), normal({3, 4})});
}

// The gradient of a sum goes to both summands as one tensor: adding to it in place would reach the
// other, too.
TEST(Embedding, AGradientThatOthersHoldStaysAsItIs) {
  const auto options = torch::TensorOptions(torch::kFloat32).requires_grad(true);
  const Tensor token = torch::zeros({1, 2}, torch::kInt64);
  const Tensor words = torch::ones({3, 4}, options), positions = torch::ones({2, 4}, options);
  const Tensor other = torch::ones({3, 4}, options);
  const auto [y, passed_on] = embedding(token, words, positions);
  const Tensor weights = torch::arange(12, torch::kFloat32).view({3, 4});
  const Tensor sum = ((passed_on + other) * weights).sum() + y.sum();
  const auto found = torch::autograd::grad({sum}, {words, other});
  EXPECT_TRUE(torch::equal(found[1], weights));
  Tensor expected = weights.clone();
  expected[0] += 2;
  EXPECT_TRUE(torch::equal(found[0], expected));
}

TEST(Embedding, RefusesTokensOutsideTheVocabulary) {
  for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
    const Tensor words = torch::zeros({5, 4}, dtype), positions = torch::zeros({3, 4}, dtype);
    for (const int64_t wrong : {int64_t{-1}, int64_t{5}}) {
      const auto embed = [&] { embedding(torch::full({1, 2}, wrong), words, positions); };
      test::expect_error<InputError>(embed, "token is " + std::to_string(wrong), "0 to 4");
    }
  }
}

}  // namespace
}  // namespace edelta::ops
