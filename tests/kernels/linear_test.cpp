#include "kernels/linear.h"

#include "kernels/layer_reference.h"

namespace edelta::kernels {
namespace {

using namespace testing_support;

struct Options {
  bool norm, norm_bias, bias, residual;
};

std::ostream& operator<<(std::ostream& out, const Options& o) {
  return out << (o.norm ? "norm " : "") << (o.norm_bias ? "norm_bias " : "")
             << (o.bias ? "bias " : "") << (o.residual ? "residual" : "");
}

struct Shape {
  int64_t tokens, in, out;
};

std::ostream& operator<<(std::ostream& out, const Shape& s) {
  return out << s.tokens << "x" << s.in << "x" << s.out;
}

// One layer with all that its forward and backward passes read and write.
struct Layer {
  Layer(Shape s, Options o)
      : shape(s),
        options(o),
        x(random_floats(s.tokens * s.in, 1, 1, 0.5F)),
        weight(random_floats(s.out * s.in, 2, 0.3F)),
        norm_weight(o.norm ? random_floats(s.in, 3, 0.2F, 1) : Floats()),
        norm_bias(o.norm_bias ? random_floats(s.in, 4) : Floats()),
        bias(o.bias ? random_floats(s.out, 5) : Floats()),
        residual(o.residual ? (s.in == s.out ? x : random_floats(s.tokens * s.out, 6)) : Floats()),
        dy(random_floats(s.tokens * s.out, 7)),
        y(unset(s.tokens * s.out)),
        mean(o.norm ? unset(s.tokens) : Floats()),
        rstd(mean),
        dx(unset(s.tokens * s.in)),
        dweight(unset(s.out * s.in)),
        dbias(unset(s.out)),
        dnorm_weight(o.norm ? unset(s.in) : Floats()),
        dnorm_bias(dnorm_weight) {}

  bool residual_is_input() const { return options.residual && shape.in == shape.out; }

  void forward() {
    LinearForward a;
    a.tokens = shape.tokens, a.in = shape.in, a.out = shape.out;
    a.x = pointer(x), a.weight = pointer(weight), a.bias = pointer(bias);
    a.norm_weight = pointer(norm_weight), a.norm_bias = pointer(norm_bias);
    a.residual = pointer(residual);
    a.y = pointer(y), a.mean = pointer(mean), a.rstd = pointer(rstd);
    linear_forward(a);
  }

  LinearBackward backward_arguments() {
    LinearBackward a;
    a.tokens = shape.tokens, a.in = shape.in, a.out = shape.out;
    a.dy = pointer(dy), a.x = pointer(x), a.weight = pointer(weight);
    a.norm_weight = pointer(norm_weight), a.norm_bias = pointer(norm_bias);
    a.mean = pointer(mean), a.rstd = pointer(rstd);
    a.straight = residual_is_input() ? pointer(dy) : nullptr;
    a.dx = pointer(dx), a.dweight = pointer(dweight), a.dbias = pointer(dbias);
    a.dnorm_weight = pointer(dnorm_weight), a.dnorm_bias = pointer(dnorm_bias);
    return a;
  }

  void expect_correct() const {
    const auto [n, k, m] = shape;
    const Normed normed = layer_norm(x, norm_weight, norm_bias, n, k, 1e-5);
    Doubles expected = linear(normed.y, weight, bias, n, k, m);
    if (options.residual) add_to(expected, widen(residual));
    expect_close(y, expected, 2e-5, "y");
    if (options.norm) {
      expect_close(mean, normed.mean, 2e-5, "mean");
      expect_close(rstd, normed.rstd, 2e-5, "rstd");
    }
    const LinearGradients g = linear_gradients(widen(dy), normed.y, weight, n, k, m);
    NormGradients in = layer_norm_gradients(g.dx, normed, norm_weight, n, k);
    if (residual_is_input()) add_to(in.dx, widen(dy));
    expect_close(dx, in.dx, 2e-4, "dx");
    expect_close(dweight, g.dweight, 2e-4, "dweight");
    expect_close(dbias, g.dbias, 2e-4, "dbias");
    if (options.norm) {
      expect_close(dnorm_weight, in.dweight, 2e-4, "dnorm_weight");
      expect_close(dnorm_bias, in.dbias, 2e-4, "dnorm_bias");
    }
  }

  Shape shape;
  Options options;
  Floats x, weight, norm_weight, norm_bias, bias, residual, dy;
  Floats y, mean, rstd, dx, dweight, dbias, dnorm_weight, dnorm_bias;
};

class LinearTest : public testing::TestWithParam<std::tuple<Shape, Options, int>> {};

TEST_P(LinearTest, MatchesTheDefinition) {
  const auto [shape, options, threads] = GetParam();
  const ThreadCount guard(threads);
  Layer layer(shape, options);
  layer.forward();
  linear_backward(layer.backward_arguments());
  layer.expect_correct();
}

INSTANTIATE_TEST_SUITE_P(
    Layers, LinearTest,
    testing::Combine(
        testing::Values(Shape{1, 1, 1}, Shape{1, 128, 3}, Shape{7, 3, 33}, Shape{7, 20, 1},
                        Shape{49, 33, 33}, Shape{130, 128, 20}, Shape{130, 20, 128},
                        Shape{49, 3, 1500}, Shape{3, 700, 260}, Shape{5, 1100, 70},
                        Shape{300, 33, 70}),
        testing::Values(Options{false, false, false, false}, Options{false, false, true, false},
                        Options{false, false, false, true}, Options{true, false, false, false},
                        Options{true, true, true, true}, Options{true, false, false, true}),
        testing::Values(1, 2, 5)));

TEST(Linear, RepeatsBitForBit) {
  for (int threads : {1, 2, 5}) {
    const ThreadCount guard(threads);
    Layer first({1000, 33, 70}, {true, true, true, false});
    Layer second = first;
    for (Layer* layer : {&first, &second}) {
      layer->forward();
      linear_backward(layer->backward_arguments());
    }
    EXPECT_EQ(first.y, second.y);
    EXPECT_EQ(first.dx, second.dx);
    EXPECT_EQ(first.dweight, second.dweight);
    EXPECT_EQ(first.dbias, second.dbias);
    EXPECT_EQ(first.dnorm_weight, second.dnorm_weight);
    EXPECT_EQ(first.dnorm_bias, second.dnorm_bias);
  }
}

TEST(Linear, EachGradientCanBeLeftOut) {
  Layer layer({49, 20, 20}, {true, true, true, true});
  layer.forward();
  for (auto gradient : {&LinearBackward::dx, &LinearBackward::dweight, &LinearBackward::dbias,
                        &LinearBackward::dnorm_weight, &LinearBackward::dnorm_bias}) {
    LinearBackward only = layer.backward_arguments();
    float* wanted = only.*gradient;
    only.dx = only.dweight = only.dbias = only.dnorm_weight = only.dnorm_bias = nullptr;
    only.*gradient = wanted;
    linear_backward(only);
  }
  layer.expect_correct();
}

TEST(Linear, AddsToTheResidualInPlace) {
  Layer layer({49, 20, 33}, {false, false, true, true});
  Layer in_place = layer;
  layer.forward();
  in_place.y = in_place.residual;
  LinearForward a;
  a.tokens = 49, a.in = 20, a.out = 33;
  a.x = pointer(in_place.x), a.weight = pointer(in_place.weight), a.bias = pointer(in_place.bias);
  a.residual = pointer(in_place.y), a.y = pointer(in_place.y);
  linear_forward(a);
  EXPECT_EQ(in_place.y, layer.y);
}

TEST(Linear, NormSurvivesALargeMean) {
  Layer layer({7, 128, 20}, {true, false, false, false});
  for (float& value : layer.x) value += 1000;
  layer.forward();
  const Normed normed = layer_norm(layer.x, layer.norm_weight, {}, 7, 128, 1e-5);
  // The inputs' own rounding, 3e-5, is the scale of what a float mean can resolve.
  expect_close(layer.y, linear(normed.y, layer.weight, {}, 7, 128, 20), 2e-4, "y");
}

TEST(Linear, NoTokensGiveZeroGradients) {
  Layer layer({0, 3, 20}, {true, true, true, false});
  layer.forward();
  linear_backward(layer.backward_arguments());
  EXPECT_EQ(layer.dweight, Floats(60, 0.0F));
  EXPECT_EQ(layer.dnorm_bias, Floats(3, 0.0F));
}

}  // namespace
}  // namespace edelta::kernels
