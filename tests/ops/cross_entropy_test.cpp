// The loss of a token model: against libtorch's, by differences, and fused against composite.
#include "edelta/ops/cross_entropy.h"

#include <gtest/gtest.h>

#include "edelta/base/error.h"
#include "edelta/base/machine.h"
#include "edelta/ops/implementation.h"
#include "expect_error.h"
#include "gradient_check.h"

namespace edelta::ops {
namespace {

using test::normal;
using test::relative_difference;
using torch::Tensor;

// Of B × T tokens of width D on V words. `ignored`: one target of so many is −1, 0: none.
struct Case {
  int64_t batch, length, width, words, ignored;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.batch << "x" << c.length << "x" << c.width << " on " << c.words << ", ignored "
             << c.ignored;
}

Tensor targets(const Case& c) {
  Tensor target = torch::randint(c.words, {c.batch, c.length}, torch::kInt64);
  if (c.ignored == 0) return target;
  const Tensor at = torch::arange(target.numel()).view(target.sizes());
  return torch::where(at.remainder(c.ignored) == 0, torch::full_like(target, kIgnoredTarget),
                      target);
}

// x, the norm's weight and bias, W, b.
std::vector<Tensor> arguments(const Case& c) {
  return {normal({c.batch, c.length, c.width}), 1 + 0.1 * normal({c.width}), normal({c.width}),
          0.3 * normal({c.words, c.width}), normal({c.words})};
}

Tensor loss_of(const std::vector<Tensor>& a, const Tensor& target) {
  return cross_entropy(a[0], {a[1], a[2]}, {a[3], a[4]}, target);
}

struct Evaluated {
  Tensor loss;
  std::vector<Tensor> gradients;
};

// With the gradients of three times the loss.
Evaluated evaluate(std::vector<Tensor> a, const Tensor& target, torch::ScalarType dtype) {
  for (Tensor& each : a) each = each.detach().to(dtype).requires_grad_();
  const Tensor loss = loss_of(a, target);
  return {loss.detach(), torch::autograd::grad({3 * loss}, a)};
}

class CrossEntropies : public testing::TestWithParam<std::tuple<Case, int64_t>> {
 protected:
  void SetUp() override {
    torch::manual_seed(5);
    before_ = base::threads();
    base::set_threads(std::get<1>(GetParam()));
  }
  void TearDown() override { base::set_threads(before_); }
  int64_t before_ = 1;
};

TEST_P(CrossEntropies, FusedEqualsCompositeInFloat64) {
  const Case& c = std::get<0>(GetParam());
  const Tensor target = targets(c);
  const std::vector<Tensor> a = arguments(c);
  const Evaluated expected = evaluate(a, target, torch::kFloat64);
  const Evaluated found = evaluate(a, target, torch::kFloat32);
  EXPECT_NEAR(found.loss.item<double>(), expected.loss.item<double>(), 2e-5);
  for (size_t i = 0; i < a.size(); ++i) {
    // Where the exact gradient is 0 (one word, nothing that counts), so is ours.
    const double scale = std::max(test::largest(expected.gradients[i]), 1e-3);
    EXPECT_LE(test::difference(found.gradients[i], expected.gradients[i]), 2e-4 * scale)
        << "argument " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, CrossEntropies,
    testing::Combine(testing::Values(Case{1, 1, 16, 65, 0}, Case{1, 1, 7, 1, 0},
                                     Case{3, 7, 20, 1, 3}, Case{3, 7, 20, 2, 2},
                                     Case{2, 133, 33, 65, 5}, Case{2, 9, 24, 65, 1},
                                     Case{1, 5, 24, 50257, 2}, Case{3, 47, 22, 50257, 4},
                                     Case{1, 3, 24, 50257, 1}),
                     testing::Values(1, 2)));

TEST(CrossEntropy, IsTheMeanThatLibtorchDefines) {
  torch::manual_seed(6);
  const Case c{2, 9, 12, 17, 4};
  const Tensor target = targets(c);
  const std::vector<Tensor> a = arguments(c);
  const Tensor logits = torch::linear(normalise(a[0], {a[1], a[2]}), a[3], a[4]);
  const Tensor expected = torch::cross_entropy_loss(logits.flatten(0, 1), target.flatten(), {},
                                                    at::Reduction::Mean, kIgnoredTarget);
  EXPECT_LT(relative_difference(loss_of(a, target), expected), 1e-14);
}

TEST(CrossEntropy, CompositeGradientsAgreeWithDifferences) {
  torch::manual_seed(7);
  const Tensor target = targets({2, 3, 4, 5, 4});
  test::expect_gradient([&](const auto& a) { return loss_of(a, target); },
                        arguments({2, 3, 4, 5, 4}));
}

TEST(CrossEntropy, IsZeroWhereNothingCounts) {
  const Case c{2, 3, 8, 11, 1};
  for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
    const Evaluated found = evaluate(arguments(c), targets(c), dtype);
    EXPECT_EQ(found.loss.item<double>(), 0);
    for (const Tensor& gradient : found.gradients) EXPECT_EQ(test::largest(gradient), 0);
  }
}

TEST(CrossEntropy, ASecondBackwardPassGivesTheSame) {
  torch::manual_seed(8);
  const Case c{2, 3, 8, 11, 0};
  std::vector<Tensor> a = arguments(c);
  for (Tensor& each : a) each = each.to(torch::kFloat32).requires_grad_();
  const Tensor loss = 2 * loss_of(a, targets(c));
  const auto first = torch::autograd::grad({loss}, a, {}, /*retain_graph=*/true);
  const auto second = torch::autograd::grad({loss}, a);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(torch::equal(first[i], second[i])) << i;
}

TEST(CrossEntropy, TheMeanIsThatOfTheTokensLosses) {
  torch::manual_seed(9);
  const Case c{2, 65, 8, 11, 3};
  const Tensor target = targets(c);
  for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
    std::vector<Tensor> a = arguments(c);
    for (Tensor& each : a) each = each.to(dtype).requires_grad_();
    const Tensor losses = token_losses(a[0], {a[1], a[2]}, {a[3], a[4]}, target);
    EXPECT_FALSE(losses.requires_grad());
    EXPECT_EQ(losses.sizes(), target.sizes());
    EXPECT_EQ(test::largest(losses.masked_select(target.eq(kIgnoredTarget))), 0);
    const Tensor mean = losses.sum(torch::kFloat64) / target.ne(kIgnoredTarget).sum();
    EXPECT_LT(relative_difference(loss_of(a, target), mean), 1e-6);
  }
}

TEST(CrossEntropy, RefusesTargetsOutsideTheVocabulary) {
  const Case c{1, 3, 8, 11, 0};
  for (const auto dtype : {torch::kFloat32, torch::kFloat64}) {
    std::vector<Tensor> a = arguments(c);
    for (Tensor& each : a) each = each.to(dtype);
    for (const int64_t wrong : {int64_t{-2}, int64_t{11}}) {
      const auto evaluate = [&] { loss_of(a, torch::full({1, 3}, wrong, torch::kInt64)); };
      test::expect_error<InputError>(evaluate, "target is " + std::to_string(wrong), "-1 to 10");
    }
    test::expect_error<c10::Error>([&] { loss_of(a, torch::zeros({1, 2}, torch::kInt64)); },
                                   "shape");
    test::expect_error<c10::Error>([&] { loss_of(a, torch::zeros({1, 3})); }, "int64");
  }
}

}  // namespace
}  // namespace edelta::ops
