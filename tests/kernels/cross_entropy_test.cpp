#include "kernels/cross_entropy.h"

#include <limits>

#include "kernels/layer_reference.h"

namespace edelta::kernels {
namespace {

using namespace testing_support;

struct Options {
  bool norm, norm_bias, bias;
};

std::ostream& operator<<(std::ostream& out, const Options& o) {
  return out << (o.norm ? "norm " : "") << (o.norm_bias ? "norm_bias " : "")
             << (o.bias ? "bias" : "");
}

struct Shape {
  int64_t tokens, in, words;
};

std::ostream& operator<<(std::ostream& out, const Shape& s) {
  return out << s.tokens << "x" << s.in << "x" << s.words;
}

// A head with all that the kernel reads and writes. Every third target is ignored.
struct Head {
  Head(Shape s, Options o)
      : shape(s),
        x(random_floats(s.tokens * s.in, 1, 1, 0.5F)),
        weight(random_floats(s.words * s.in, 2, 0.3F)),
        norm_weight(o.norm ? random_floats(s.in, 3, 0.2F, 1) : Floats()),
        norm_bias(o.norm_bias ? random_floats(s.in, 4) : Floats()),
        bias(o.bias ? random_floats(s.words, 5) : Floats()),
        target(s.tokens),
        loss(unset(s.tokens)),
        dx(unset(s.tokens * s.in)),
        dweight(unset(s.words * s.in)),
        dbias(unset(s.words)),
        dnorm_weight(o.norm ? unset(s.in) : Floats()),
        dnorm_bias(dnorm_weight) {
    for (int64_t t = 0; t < s.tokens; ++t) target[t] = t % 3 == 1 ? -1 : t * 7919 % s.words;
  }

  CrossEntropy arguments() {
    CrossEntropy a;
    a.tokens = shape.tokens, a.in = shape.in, a.words = shape.words;
    a.x = pointer(x), a.weight = pointer(weight), a.bias = pointer(bias);
    a.norm_weight = pointer(norm_weight), a.norm_bias = pointer(norm_bias);
    a.target = target.data(), a.scale = kScale, a.loss = pointer(loss);
    a.dx = pointer(dx), a.dweight = pointer(dweight), a.dbias = pointer(dbias);
    a.dnorm_weight = pointer(dnorm_weight), a.dnorm_bias = pointer(dnorm_bias);
    return a;
  }

  void expect_correct() const {
    const auto [n, k, m] = shape;
    const Normed normed = layer_norm(x, norm_weight, norm_bias, n, k, 1e-5);
    Doubles dz = linear(normed.y, weight, bias, n, k, m), expected(n);
    for (int64_t t = 0; t < n; ++t) {
      double* z = dz.data() + t * m;
      const double top = *std::max_element(z, z + m);
      double sum = 0;
      for (int64_t w = 0; w < m; ++w) sum += std::exp(z[w] - top);
      const bool counts = target[t] >= 0;
      if (counts) expected[t] = top + std::log(sum) - z[target[t]];
      for (int64_t w = 0; w < m; ++w) {
        z[w] = counts ? kScale * (std::exp(z[w] - top) / sum - (w == target[t] ? 1 : 0)) : 0;
      }
    }
    expect_close(loss, expected, 2e-5, "loss");
    const LinearGradients g = linear_gradients(dz, normed.y, weight, n, k, m);
    const NormGradients in = layer_norm_gradients(g.dx, normed, norm_weight, n, k);
    expect_close(dx, in.dx, 2e-4, "dx");
    expect_close(dweight, g.dweight, 2e-4, "dweight");
    expect_close(dbias, g.dbias, 2e-4, "dbias");
    if (norm_weight.empty()) return;
    expect_close(dnorm_weight, in.dweight, 2e-4, "dnorm_weight");
    expect_close(dnorm_bias, in.dbias, 2e-4, "dnorm_bias");
  }

  static constexpr float kScale = 0.5F;
  Shape shape;
  Floats x, weight, norm_weight, norm_bias, bias;
  std::vector<int64_t> target;
  Floats loss, dx, dweight, dbias, dnorm_weight, dnorm_bias;
};

class CrossEntropyTest : public testing::TestWithParam<std::tuple<Shape, Options, int>> {};

TEST_P(CrossEntropyTest, MatchesTheDefinition) {
  const auto [shape, options, threads] = GetParam();
  const ThreadCount guard(threads);
  Head head(shape, options);
  cross_entropy(head.arguments());
  head.expect_correct();
}

INSTANTIATE_TEST_SUITE_P(
    Heads, CrossEntropyTest,
    testing::Combine(testing::Values(Shape{1, 1, 1}, Shape{1, 20, 2}, Shape{7, 3, 65},
                                     Shape{130, 20, 1}, Shape{130, 33, 2}, Shape{300, 128, 65},
                                     Shape{49, 20, 1500}, Shape{261, 70, 257}, Shape{3, 7, 50257}),
                     testing::Values(Options{false, false, false}, Options{false, false, true},
                                     Options{true, false, false}, Options{true, true, true}),
                     testing::Values(1, 2, 5)));

TEST(CrossEntropy, AWeightTooLargeForACopyAThreadIsSharedOut) {
  for (const int threads : {1, 2, 5}) {
    const ThreadCount guard(threads);
    Head first({140, 530, 2000}, {true, true, true});
    Head second = first;
    for (Head* head : {&first, &second}) cross_entropy(head->arguments());
    first.expect_correct();
    EXPECT_EQ(first.dweight, second.dweight);
    EXPECT_EQ(first.dx, second.dx);
  }
}

TEST(CrossEntropy, RepeatsBitForBit) {
  for (const int threads : {1, 2, 5}) {
    const ThreadCount guard(threads);
    Head first({300, 33, 700}, {true, true, true});
    Head second = first;
    for (Head* head : {&first, &second}) cross_entropy(head->arguments());
    EXPECT_EQ(first.loss, second.loss);
    EXPECT_EQ(first.dx, second.dx);
    EXPECT_EQ(first.dweight, second.dweight);
    EXPECT_EQ(first.dbias, second.dbias);
    EXPECT_EQ(first.dnorm_weight, second.dnorm_weight);
    EXPECT_EQ(first.dnorm_bias, second.dnorm_bias);
  }
}

TEST(CrossEntropy, EachGradientCanBeLeftOut) {
  Head head({300, 20, 70}, {true, true, true});
  for (auto gradient : {&CrossEntropy::dx, &CrossEntropy::dweight, &CrossEntropy::dbias,
                        &CrossEntropy::dnorm_weight, &CrossEntropy::dnorm_bias}) {
    CrossEntropy only = head.arguments();
    float* wanted = only.*gradient;
    only.dx = only.dweight = only.dbias = only.dnorm_weight = only.dnorm_bias = nullptr;
    only.*gradient = wanted;
    cross_entropy(only);
  }
  head.expect_correct();
}

TEST(CrossEntropy, TheLossAloneHasTheSameBits) {
  for (const int threads : {1, 2, 5}) {
    const ThreadCount guard(threads);
    Head with({300, 20, 700}, {true, false, false});
    Head without = with;
    cross_entropy(with.arguments());
    CrossEntropy alone = without.arguments();
    alone.dx = alone.dweight = alone.dbias = alone.dnorm_weight = alone.dnorm_bias = nullptr;
    cross_entropy(alone);
    EXPECT_EQ(with.loss, without.loss);
  }
}

TEST(CrossEntropy, LargeLogitsNeitherOverflowNorVanish) {
  Head head({49, 20, 300}, {false, false, true});
  for (float& value : head.weight) value *= 300;
  cross_entropy(head.arguments());
  head.expect_correct();
}

TEST(CrossEntropy, AWordMayBeImpossible) {
  Head head({7, 20, 70}, {false, false, true});
  head.bias[3] = -std::numeric_limits<float>::infinity();
  for (int64_t& target : head.target) target = target == 3 ? 4 : target;
  cross_entropy(head.arguments());
  EXPECT_TRUE(std::isfinite(head.loss[0]));
  for (int64_t i = 0; i < 20; ++i) EXPECT_EQ(head.dweight[3 * 20 + i], 0);
}

TEST(CrossEntropy, NothingThatCountsGivesZeros) {
  Head head({130, 20, 70}, {true, true, true});
  std::fill(head.target.begin(), head.target.end(), -1);
  cross_entropy(head.arguments());
  for (const Floats* all :
       {&head.loss, &head.dx, &head.dweight, &head.dbias, &head.dnorm_weight, &head.dnorm_bias}) {
    for (const float value : *all) ASSERT_EQ(value, 0);
  }
}

}  // namespace
}  // namespace edelta::kernels
