#include "kernels/route.h"

#include "kernels/close.h"
#include "kernels/layer_reference.h"
#include "kernels/stream.h"
#include "kernels/token_operator_reference.h"

namespace edelta::kernels {
namespace {

constexpr int64_t kIterations = 2;
constexpr double kAlpha = 0.2;

struct Shape {
  int64_t tokens, streams, width, matrices;

  int64_t in() const { return streams * width; }
  int64_t entries() const { return streams * streams; }
  int64_t out() const { return matrices * entries(); }
  bool mixes() const { return matrices == 3; }
};

std::ostream& operator<<(std::ostream& out, const Shape& s) {
  return out << s.tokens << "x" << s.streams << "x" << s.width << " with " << s.matrices;
}

Values piece(const Values& values, int64_t& at, int64_t count) {
  at += count;
  return {values.begin() + at - count, values.begin() + at};
}

void append(Values& values, const Values& more) {
  values.insert(values.end(), more.begin(), more.end());
}

// What goes into a route: x, then the norm's weight and bias, the weight and the bias.
// What comes out: the aggregate, post, H_res and H_res x (or x) of all tokens.
struct Outputs {
  Values aggregate, post, h_res, mixed;

  Values together() const {
    Values all = aggregate;
    for (const Values* more : {&post, &h_res, &mixed}) append(all, *more);
    return all;
  }
};

Values normed(const Values& x, const Values& weight, const Values& bias) {
  const auto width = static_cast<double>(x.size());
  double mean = 0, variance = 0;
  for (const double value : x) mean += value / width;
  for (const double value : x) variance += (value - mean) * (value - mean) / width;
  Values y(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    y[i] = (x[i] - mean) / std::sqrt(variance + 1e-5) * weight[i] + bias[i];
  }
  return y;
}

void route_token(const Shape& s, const Values& x, const Values& z, Outputs& to) {
  const int64_t n = s.streams, d = s.width;
  const auto logits = [&](int64_t matrix) {
    const auto first = z.begin() + matrix * s.entries();
    return Values(first, first + s.entries());
  };
  const Values pre = mixer(logits(0), n, n, 1, 1.0 / static_cast<double>(n));
  append(to.post, mixer(logits(1), n, 1, n, 1));
  for (int64_t c = 0; c < d; ++c) {
    double total = 0;
    for (int64_t j = 0; j < n; ++j) total += pre[j] * x[j * d + c];
    to.aggregate.push_back(total);
  }
  if (!s.mixes()) return append(to.mixed, x);
  const Values h = iterative_cayley(logits(2), n, kAlpha, kIterations);
  append(to.h_res, h);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t c = 0; c < d; ++c) {
      double total = 0;
      for (int64_t j = 0; j < n; ++j) total += h[i * n + j] * x[j * d + c];
      to.mixed.push_back(total);
    }
  }
}

Outputs reference(const Shape& s, const Values& inputs) {
  int64_t at = 0;
  const Values x = piece(inputs, at, s.tokens * s.in());
  const Values norm_weight = piece(inputs, at, s.in()), norm_bias = piece(inputs, at, s.in());
  const Values weight = piece(inputs, at, s.out() * s.in()), bias = piece(inputs, at, s.out());
  Outputs outputs;
  for (int64_t t = 0; t < s.tokens; ++t) {
    const Values row(x.begin() + t * s.in(), x.begin() + (t + 1) * s.in());
    const Values n = normed(row, norm_weight, norm_bias);
    Values z = bias;
    for (int64_t o = 0; o < s.out(); ++o) {
      for (int64_t i = 0; i < s.in(); ++i) z[o] += weight[o * s.in() + i] * n[i];
    }
    route_token(s, row, z, outputs);
  }
  return outputs;
}

// A route with all that its forward and backward passes read and write.
struct Route {
  explicit Route(const Shape& s)
      : shape(s),
        x(random_values(s.tokens * s.in(), 1)),
        norm_weight(random_values(s.in(), 2)),
        norm_bias(random_values(s.in(), 3)),
        weight(random_values(s.out() * s.in(), 4, 0.3F)),
        bias(random_values(s.out(), 5)),
        daggregate(random_values(s.tokens * s.width, 6)),
        dpost(random_values(s.tokens * s.streams, 7)),
        dh_res(s.mixes() ? random_values(s.tokens * s.entries(), 8) : std::vector<float>()),
        dmixed(random_values(s.tokens * s.in(), 9)),
        z(unwritten(s.tokens * s.out())),
        pre(unwritten(s.tokens * s.streams)),
        post(pre),
        h_res(s.mixes() ? unwritten(s.tokens * s.entries()) : std::vector<float>()),
        aggregate(unwritten(s.tokens * s.width)),
        mean(unwritten(s.tokens)),
        rstd(mean),
        dx(unwritten(s.tokens * s.in())),
        dweight(unwritten(s.out() * s.in())),
        dbias(unwritten(s.out())),
        dnorm_weight(unwritten(s.in())),
        dnorm_bias(dnorm_weight) {}

  void forward() {
    route_forward({.logits = {.tokens = shape.tokens,
                              .in = shape.in(),
                              .out = shape.out(),
                              .x = x.data(),
                              .norm_weight = norm_weight.data(),
                              .norm_bias = norm_bias.data(),
                              .weight = weight.data(),
                              .bias = bias.data(),
                              .y = z.data(),
                              .mean = mean.data(),
                              .rstd = rstd.data()},
                   .streams = shape.streams,
                   .iterations = kIterations,
                   .alpha = static_cast<float>(kAlpha),
                   .pre = pre.data(),
                   .post = post.data(),
                   .h_res = testing_support::pointer(h_res),
                   .aggregate = aggregate.data()});
  }

  void backward() {
    route_backward({.logits = {.tokens = shape.tokens,
                               .in = shape.in(),
                               .out = shape.out(),
                               .x = x.data(),
                               .norm_weight = norm_weight.data(),
                               .norm_bias = norm_bias.data(),
                               .mean = mean.data(),
                               .rstd = rstd.data(),
                               .weight = weight.data(),
                               .dx = dx.data(),
                               .dweight = dweight.data(),
                               .dbias = dbias.data(),
                               .dnorm_weight = dnorm_weight.data(),
                               .dnorm_bias = dnorm_bias.data()},
                    .streams = shape.streams,
                    .iterations = kIterations,
                    .alpha = static_cast<float>(kAlpha),
                    .z = z.data(),
                    .pre = pre.data(),
                    .h_res = testing_support::pointer(h_res),
                    .dpost = dpost.data(),
                    .daggregate = daggregate.data(),
                    .dh_res = testing_support::pointer(dh_res),
                    .dmixed = dmixed.data()});
  }

  Values inputs() const { return joined({&x, &norm_weight, &norm_bias, &weight, &bias}); }
  Values output_gradients() const { return joined({&daggregate, &dpost, &dh_res, &dmixed}); }

  static Values joined(std::initializer_list<const std::vector<float>*> parts) {
    Values all;
    for (const auto* part : parts) append(all, widen(*part));
    return all;
  }

  Shape shape;
  std::vector<float> x, norm_weight, norm_bias, weight, bias, daggregate, dpost, dh_res, dmixed;
  std::vector<float> z, pre, post, h_res, aggregate, mean, rstd;
  std::vector<float> dx, dweight, dbias, dnorm_weight, dnorm_bias;
};

class RouteTest : public testing::TestWithParam<Shape> {};

TEST_P(RouteTest, MatchesTheDefinition) {
  const Shape s = GetParam();
  const Route given(s);
  const Outputs expected = reference(s, given.inputs());
  const Values gradients =
      numeric_gradient([&](const Values& inputs) { return reference(s, inputs).together(); },
                       given.inputs(), given.output_gradients());
  with_threads([&] {
    Route route = given;
    route.forward();
    expect_close(route.aggregate, expected.aggregate, kValueTolerance, "aggregate");
    expect_close(route.post, expected.post, kValueTolerance, "post");
    expect_close(route.h_res, expected.h_res, kValueTolerance, "H_res");
    route.backward();
    int64_t at = 0;
    const auto expect_next = [&](const std::vector<float>& found, const char* what) {
      expect_close(found, piece(gradients, at, static_cast<int64_t>(found.size())),
                   kGradientTolerance, what);
    };
    expect_next(route.dx, "dx");
    expect_next(route.dnorm_weight, "dnorm_weight");
    expect_next(route.dnorm_bias, "dnorm_bias");
    expect_next(route.dweight, "dweight");
    expect_next(route.dbias, "dbias");
    Route again = given;
    again.forward();
    again.backward();
    expect_same_bits(route.aggregate, again.aggregate, "aggregate");
    expect_same_bits(route.dx, again.dx, "dx");
    expect_same_bits(route.dweight, again.dweight, "dweight");
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, RouteTest,
                         testing::Values(Shape{1, 4, 8, 3}, Shape{1, 2, 3, 2}, Shape{7, 3, 5, 3},
                                         Shape{7, 3, 5, 2}, Shape{33, 2, 4, 3}, Shape{5, 1, 6, 3},
                                         Shape{4, 5, 3, 3}, Shape{3, 8, 3, 2}));

std::vector<float> part(const std::vector<float>& values, int64_t first, int64_t count) {
  return {values.begin() + first, values.begin() + first + count};
}

// Large tensors are stored past the caches; tokens by themselves, a few at a time, are not.
TEST(Route, LargeTensorsGiveWhatTheirPartsGive) {
  const Shape large{8300, 4, 128, 3};
  Route all(large);
  all.forward();
  all.backward();
  const int64_t tokens = 415;
  for (const int64_t first : {int64_t{0}, 10 * tokens, 19 * tokens}) {
    Route some({tokens, 4, 128, 3});
    some.x = part(all.x, first * 512, tokens * 512);
    some.dmixed = part(all.dmixed, first * 512, tokens * 512);
    some.daggregate = part(all.daggregate, first * 128, tokens * 128);
    some.dpost = part(all.dpost, first * 4, tokens * 4);
    some.dh_res = part(all.dh_res, first * 16, tokens * 16);
    some.forward();
    some.backward();
    expect_close(part(all.aggregate, first * 128, tokens * 128), widen(some.aggregate),
                 kValueTolerance, "aggregate");
    expect_close(part(all.dx, first * 512, tokens * 512), widen(some.dx), kGradientTolerance, "dx");
  }
}

}  // namespace
}  // namespace edelta::kernels
