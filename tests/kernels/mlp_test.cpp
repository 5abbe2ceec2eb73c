#include "kernels/mlp.h"

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
  int64_t tokens, in, hidden, out;
};

std::ostream& operator<<(std::ostream& out, const Shape& s) {
  return out << s.tokens << "x" << s.in << "x" << s.hidden << "x" << s.out;
}

double normal_cdf(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }
double gelu(double z) { return z * normal_cdf(z); }
double gelu_slope(double z) {
  return normal_cdf(z) + z * std::exp(-z * z / 2) / std::sqrt(2 * M_PI);
}

Doubles map(const Doubles& values, double (*function)(double)) {
  Doubles out = values;
  for (double& value : out) value = function(value);
  return out;
}

// One MLP with all that its forward and backward passes read and write.
struct Layer {
  Layer(Shape s, Options o)
      : shape(s),
        options(o),
        x(random_floats(s.tokens * s.in, 1, 1, 0.5F)),
        fc_weight(random_floats(s.hidden * s.in, 2, 0.5F)),
        proj_weight(random_floats(s.out * s.hidden, 3, 0.3F)),
        norm_weight(o.norm ? random_floats(s.in, 4, 0.2F, 1) : Floats()),
        norm_bias(o.norm_bias ? random_floats(s.in, 5) : Floats()),
        fc_bias(o.bias ? random_floats(s.hidden, 6) : Floats()),
        proj_bias(o.bias ? random_floats(s.out, 7) : Floats()),
        residual(o.residual ? (s.in == s.out ? x : random_floats(s.tokens * s.out, 8)) : Floats()),
        dy(random_floats(s.tokens * s.out, 9)),
        y(unset(s.tokens * s.out)),
        mean(o.norm ? unset(s.tokens) : Floats()),
        rstd(mean),
        pre_activation(unset(s.tokens * s.hidden)),
        dx(unset(s.tokens * s.in)),
        dfc_weight(unset(s.hidden * s.in)),
        dfc_bias(unset(s.hidden)),
        dproj_weight(unset(s.out * s.hidden)),
        dproj_bias(unset(s.out)),
        dnorm_weight(o.norm ? unset(s.in) : Floats()),
        dnorm_bias(dnorm_weight) {}

  bool residual_is_input() const { return options.residual && shape.in == shape.out; }

  MlpForward forward_arguments() {
    MlpForward a;
    a.tokens = shape.tokens, a.in = shape.in, a.hidden = shape.hidden, a.out = shape.out;
    a.x = pointer(x), a.residual = pointer(residual);
    a.norm_weight = pointer(norm_weight), a.norm_bias = pointer(norm_bias);
    a.fc_weight = pointer(fc_weight), a.fc_bias = pointer(fc_bias);
    a.proj_weight = pointer(proj_weight), a.proj_bias = pointer(proj_bias);
    a.y = pointer(y), a.mean = pointer(mean), a.rstd = pointer(rstd);
    a.pre_activation = pointer(pre_activation);
    return a;
  }

  MlpBackward backward_arguments() {
    MlpBackward a;
    a.tokens = shape.tokens, a.in = shape.in, a.hidden = shape.hidden, a.out = shape.out;
    a.dy = pointer(dy), a.x = pointer(x), a.pre_activation = pointer(pre_activation);
    a.norm_weight = pointer(norm_weight), a.norm_bias = pointer(norm_bias);
    a.mean = pointer(mean), a.rstd = pointer(rstd);
    a.fc_weight = pointer(fc_weight), a.proj_weight = pointer(proj_weight);
    a.straight = residual_is_input() ? pointer(dy) : nullptr;
    a.dx = pointer(dx), a.dfc_weight = pointer(dfc_weight), a.dfc_bias = pointer(dfc_bias);
    a.dproj_weight = pointer(dproj_weight), a.dproj_bias = pointer(dproj_bias);
    a.dnorm_weight = pointer(dnorm_weight), a.dnorm_bias = pointer(dnorm_bias);
    return a;
  }

  void expect_correct() const {
    const auto [n, in, hidden, out] = shape;
    const Normed normed = layer_norm(x, norm_weight, norm_bias, n, in, 1e-5);
    const Doubles z = linear(normed.y, fc_weight, fc_bias, n, in, hidden);
    const Doubles h = map(z, gelu);
    Doubles expected = linear(h, proj_weight, proj_bias, n, hidden, out);
    if (options.residual) add_to(expected, widen(residual));
    expect_close(pre_activation, z, 2e-5, "pre_activation");
    expect_close(y, expected, 2e-5, "y");

    const LinearGradients proj = linear_gradients(widen(dy), h, proj_weight, n, hidden, out);
    Doubles dz = map(z, gelu_slope);
    for (size_t i = 0; i < dz.size(); ++i) dz[i] *= proj.dx[i];
    const LinearGradients fc = linear_gradients(dz, normed.y, fc_weight, n, in, hidden);
    NormGradients input = layer_norm_gradients(fc.dx, normed, norm_weight, n, in);
    if (residual_is_input()) add_to(input.dx, widen(dy));
    expect_close(dx, input.dx, 2e-4, "dx");
    expect_close(dfc_weight, fc.dweight, 2e-4, "dfc_weight");
    expect_close(dfc_bias, fc.dbias, 2e-4, "dfc_bias");
    expect_close(dproj_weight, proj.dweight, 2e-4, "dproj_weight");
    expect_close(dproj_bias, proj.dbias, 2e-4, "dproj_bias");
    if (options.norm) {
      expect_close(dnorm_weight, input.dweight, 2e-4, "dnorm_weight");
      expect_close(dnorm_bias, input.dbias, 2e-4, "dnorm_bias");
    }
  }

  Shape shape;
  Options options;
  Floats x, fc_weight, proj_weight, norm_weight, norm_bias, fc_bias, proj_bias, residual, dy;
  Floats y, mean, rstd, pre_activation;
  Floats dx, dfc_weight, dfc_bias, dproj_weight, dproj_bias, dnorm_weight, dnorm_bias;
};

class MlpTest : public testing::TestWithParam<std::tuple<Shape, Options, int>> {};

TEST_P(MlpTest, MatchesTheDefinition) {
  const auto [shape, options, threads] = GetParam();
  const ThreadCount guard(threads);
  Layer layer(shape, options);
  mlp_forward(layer.forward_arguments());
  mlp_backward(layer.backward_arguments());
  layer.expect_correct();
}

INSTANTIATE_TEST_SUITE_P(
    Layers, MlpTest,
    testing::Combine(
        testing::Values(Shape{1, 1, 1, 1}, Shape{1, 128, 33, 128}, Shape{7, 3, 20, 33},
                        Shape{7, 20, 3, 1}, Shape{49, 33, 131, 33}, Shape{130, 128, 512, 128},
                        Shape{130, 20, 33, 3}, Shape{3, 300, 700, 20}),
        testing::Values(Options{false, false, false, false}, Options{false, false, true, false},
                        Options{false, false, false, true}, Options{true, false, false, true},
                        Options{true, true, true, true}),
        testing::Values(1, 2, 5)));

TEST(Mlp, RepeatsBitForBit) {
  for (int threads : {1, 2, 5}) {
    const ThreadCount guard(threads);
    Layer first({1000, 33, 70, 33}, {true, true, true, true});
    Layer second = first;
    for (Layer* layer : {&first, &second}) {
      mlp_forward(layer->forward_arguments());
      mlp_backward(layer->backward_arguments());
    }
    EXPECT_EQ(first.y, second.y);
    EXPECT_EQ(first.dx, second.dx);
    EXPECT_EQ(first.dfc_weight, second.dfc_weight);
    EXPECT_EQ(first.dfc_bias, second.dfc_bias);
    EXPECT_EQ(first.dproj_weight, second.dproj_weight);
    EXPECT_EQ(first.dproj_bias, second.dproj_bias);
    EXPECT_EQ(first.dnorm_weight, second.dnorm_weight);
    EXPECT_EQ(first.dnorm_bias, second.dnorm_bias);
  }
}

TEST(Mlp, EachGradientCanBeLeftOut) {
  Layer layer({49, 20, 33, 20}, {true, true, true, true});
  mlp_forward(layer.forward_arguments());
  for (auto gradient : {&MlpBackward::dx, &MlpBackward::dfc_weight, &MlpBackward::dfc_bias,
                        &MlpBackward::dproj_weight, &MlpBackward::dproj_bias,
                        &MlpBackward::dnorm_weight, &MlpBackward::dnorm_bias}) {
    MlpBackward only = layer.backward_arguments();
    float* wanted = only.*gradient;
    only.dx = only.dfc_weight = only.dfc_bias = only.dproj_weight = only.dproj_bias =
        only.dnorm_weight = only.dnorm_bias = nullptr;
    only.*gradient = wanted;
    mlp_backward(only);
  }
  layer.expect_correct();
}

TEST(Mlp, InferenceGivesTheSameAndSavesNothing) {
  Layer layer({49, 20, 33, 20}, {true, true, true, true});
  mlp_forward(layer.forward_arguments());
  const Floats y = layer.y;
  layer.y = unset(layer.y.size());
  MlpForward a = layer.forward_arguments();
  a.mean = a.rstd = a.pre_activation = nullptr;
  mlp_forward(a);
  EXPECT_EQ(layer.y, y);
}

// An MLP of width 1 with unit weights is GELU itself, and its gradient the slope.
struct Gelu {
  explicit Gelu(const Floats& z) : values(unset(z.size())), slopes(unset(z.size())) {
    const float one = 1;
    Floats pre(z.size());
    const Floats ones(z.size(), 1.0F);
    MlpForward forward;
    forward.tokens = static_cast<int64_t>(z.size());
    forward.in = forward.hidden = forward.out = 1;
    forward.x = pointer(z), forward.fc_weight = forward.proj_weight = &one;
    forward.y = pointer(values), forward.pre_activation = pointer(pre);
    mlp_forward(forward);
    MlpBackward backward;
    backward.tokens = forward.tokens;
    backward.in = backward.hidden = backward.out = 1;
    backward.dy = pointer(ones), backward.x = pointer(z), backward.pre_activation = pointer(pre);
    backward.fc_weight = backward.proj_weight = &one;
    backward.dx = pointer(slopes);
    mlp_backward(backward);
  }
  Floats values, slopes;
};

TEST(Mlp, GeluIsTheExactOne) {
  Floats z;
  for (int i = -100000; i <= 100000; ++i) z.push_back(static_cast<float>(i) * 1e-4F);
  for (float far : {-1e30F, -1e4F, -100.0F, 100.0F, 1e4F, 1e30F}) z.push_back(far);
  const Gelu found(z);
  double worst_value = 0;
  double worst_slope = 0;
  for (size_t i = 0; i < z.size(); ++i) {
    const double rounding = std::abs(z[i]) * 6e-8;  // half a unit in the last place of the result
    worst_value = std::max(worst_value, std::abs(found.values[i] - gelu(z[i])) - rounding);
    worst_slope = std::max(worst_slope, std::abs(found.slopes[i] - gelu_slope(z[i])));
  }
  EXPECT_LT(worst_value, 1e-7);
  EXPECT_LT(worst_slope, 2e-7);
}

TEST(Mlp, NotANumberComesThrough) {
  Floats z(64, 1.0F);
  z[5] = std::nanf("");
  const Gelu found(z);
  EXPECT_TRUE(std::isnan(found.values[5]));
  EXPECT_TRUE(std::isnan(found.slopes[5]));
  EXPECT_FALSE(std::isnan(found.values[6]));
}

}  // namespace
}  // namespace edelta::kernels
