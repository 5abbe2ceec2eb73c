// Every fused op against its composite version in float64, over awkward shapes.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "edelta/base/machine.h"
#include "edelta/ops/attention.h"
#include "edelta/ops/delta.h"
#include "edelta/ops/geodesic.h"
#include "edelta/ops/householder.h"
#include "edelta/ops/hybrid.h"
#include "edelta/ops/implementation.h"
#include "edelta/ops/mlp.h"
#include "edelta/ops/pooling.h"
#include "edelta/ops/puzzle.h"
#include "edelta/ops/routing.h"
#include "edelta/ops/sinkhorn.h"
#include "edelta/ops/streams.h"
#include "edelta/ops/token_hybrid.h"
#include "edelta/ops/unitary.h"
#include "edelta/torch.h"

namespace edelta::ops {
namespace {

using torch::Tensor;
using Op = std::function<Tensor(const std::vector<Tensor>&)>;

struct Evaluated {
  Tensor value;
  std::vector<Tensor> gradients;
};

// The value, and the gradients of its product with fixed weights.
Evaluated evaluate(const Op& op, const std::vector<Tensor>& inputs, torch::ScalarType dtype,
                   Implementation implementation) {
  const Implementation before = ops::implementation();
  set_implementation(implementation);
  std::vector<Tensor> arguments;
  std::vector<Tensor> differentiated;
  for (const Tensor& input : inputs) {
    arguments.push_back(input.defined() ? input.detach().to(dtype).requires_grad_(true) : input);
    if (input.defined()) differentiated.push_back(arguments.back());
  }
  const Tensor value = op(arguments);
  const Tensor weights =
      torch::sin(torch::arange(value.numel(), torch::kFloat64)).view(value.sizes());
  Evaluated result{value.detach(),
                   torch::autograd::grad({(value * weights.to(dtype)).sum()}, differentiated)};
  set_implementation(before);
  return result;
}

double relative_error(const Tensor& found, const Tensor& expected) {
  const double scale = std::max(expected.abs().max().item<double>(), 1e-3);
  return (found.to(torch::kFloat64) - expected).abs().max().item<double>() / scale;
}

void expect_fused_equals_composite(const Op& op, const std::vector<Tensor>& inputs) {
  const Evaluated expected = evaluate(op, inputs, torch::kFloat64, Implementation::composite);
  const Evaluated found = evaluate(op, inputs, torch::kFloat32, Implementation::fused);
  EXPECT_LT(relative_error(found.value, expected.value), 2e-5);
  ASSERT_EQ(found.gradients.size(), expected.gradients.size());
  for (size_t i = 0; i < found.gradients.size(); ++i) {
    EXPECT_LT(relative_error(found.gradients[i], expected.gradients[i]), 2e-4) << "argument " << i;
  }
  const Evaluated again = evaluate(op, inputs, torch::kFloat32, Implementation::fused);
  EXPECT_TRUE(torch::equal(found.value, again.value)) << "not bit-identical";
}

struct Shape {
  int64_t batch, length, streams, width;  // `width` is that of a stream
};

class FusedOps : public testing::TestWithParam<std::tuple<Shape, int64_t>> {
 protected:
  void SetUp() override {
    torch::manual_seed(3);
    before_ = base::threads();
    base::set_threads(std::get<1>(GetParam()));
  }
  void TearDown() override { base::set_threads(before_); }

  const Shape& shape() const { return std::get<0>(GetParam()); }
  Tensor tokens(int64_t width) const {
    return torch::randn({shape().batch, shape().length, width}, torch::kFloat64);
  }
  Tensor logits() const {
    const int64_t n = shape().streams;
    return torch::randn({shape().batch, shape().length, n, n}, torch::kFloat64);
  }
  static Tensor normal(std::vector<int64_t> sizes) { return torch::randn(sizes, torch::kFloat64); }

  int64_t before_ = 1;
};

TEST_P(FusedOps, Linear) {
  const int64_t in = shape().streams * shape().width, out = in + 5;
  for (const bool everything : {true, false}) {
    const Tensor none;
    expect_fused_equals_composite(
        [](const auto& a) { return linear(a[0], {a[1], a[2]}, {a[3], a[4]}, a[5]); },
        {tokens(in), everything ? 1 + 0.1 * normal({in}) : none, everything ? normal({in}) : none,
         normal({out, in}), everything ? normal({out}) : none, everything ? tokens(out) : none});
  }
}

// Weights that are cut in both directions, and the larger tiles beside them.
TEST(FusedWideLayers, LinearAndMlp) {
  torch::manual_seed(4);
  const auto normal = [](std::vector<int64_t> sizes) {
    return torch::randn(sizes, torch::kFloat64);
  };
  const int64_t tokens = 600, in = 1100, out = 1000, hidden = 1300;
  expect_fused_equals_composite(
      [](const auto& a) { return linear(a[0], {a[1], {}}, {a[2], {}}, a[3]); },
      {normal({2, tokens / 2, in}), 1 + 0.1 * normal({in}), normal({out, in}) / 30,
       normal({2, tokens / 2, out})});
  expect_fused_equals_composite(
      [](const auto& a) { return mlp(a[0], {a[1], {}}, {a[2], {}}, {a[3], {}}, a[0]); },
      {normal({1, tokens, in}), 1 + 0.1 * normal({in}), normal({hidden, in}) / 30,
       normal({in, hidden}) / 30});
}

TEST_P(FusedOps, MlpWithTheResidualOfItsInput) {
  const int64_t in = shape().streams * shape().width, hidden = 4 * in;
  expect_fused_equals_composite(
      [](const auto& a) { return mlp(a[0], {a[1], {}}, {a[2], a[3]}, {a[4], {}}, a[0]); },
      {tokens(in), 1 + 0.1 * normal({in}), normal({hidden, in}) / 3, normal({hidden}),
       normal({in, hidden}) / 3});
}

TEST_P(FusedOps, CausalAttention) {
  for (const int64_t heads : {int64_t{1}, shape().streams}) {
    expect_fused_equals_composite([=](const auto& a) { return causal_attention(a[0], heads); },
                                  {tokens(3 * shape().streams * shape().width)});
  }
}

// Both implementations have the same masks, so that they agree with dropout as they do without.
TEST_P(FusedOps, Dropout) {
  const int64_t in = shape().streams * shape().width, out = in + 5, hidden = 2 * in;
  const Dropout dropout{.probability = 0.3, .key = 0x123456789ABCDEF, .site = 7};
  expect_fused_equals_composite([&](const auto& a) { return drop(a[0], dropout); }, {tokens(in)});
  for (const int64_t heads : {int64_t{1}, shape().streams}) {
    expect_fused_equals_composite(
        [&](const auto& a) { return causal_attention(a[0], heads, dropout); }, {tokens(3 * in)});
  }
  const Tensor w = normal({in, in}), b = normal({in});
  expect_fused_equals_composite(
      [&](const auto& a) { return linear(a[0], {}, {a[1], a[2]}, a[0], dropout); },
      {tokens(in), w, b});
  for (const bool everything : {true, false}) {
    const Tensor none;
    const Tensor norm = everything ? 1 + 0.1 * normal({in}) : none;
    const Tensor bias = everything ? normal({out}) : none;
    const Tensor residual = everything ? tokens(out) : none;
    expect_fused_equals_composite(
        [&](const auto& a) { return linear(a[0], {a[1], {}}, {a[2], a[3]}, a[4], dropout); },
        {tokens(in), norm, normal({out, in}), bias, residual});
    expect_fused_equals_composite(
        [&](const auto& a) {
          return mlp(a[0], {a[1], {}}, {a[2], {}}, {a[3], a[4]}, a[5], dropout);
        },
        {tokens(in), norm, normal({hidden, in}) / 3, normal({out, hidden}) / 3, bias, residual});
  }
}

TEST_P(FusedOps, StreamMixAndItsStraightThroughForm) {
  const int64_t n = shape().streams;
  const Tensor x = tokens(n * shape().width);
  for (const int64_t operators : {int64_t{1}, shape().length}) {
    const Tensor g = normal({shape().batch, operators, n, n});
    expect_fused_equals_composite([](const auto& a) { return stream_mix(a[0], a[1]); }, {g, x});
    const Tensor other = normal({shape().batch, operators, n, n});
    expect_fused_equals_composite(
        [&](const auto& a) { return stream_mix(other.to(a[0].scalar_type()), a[0], a[1]); },
        {g, x});
  }
}

TEST_P(FusedOps, StreamAggregateAndUpdate) {
  const int64_t n = shape().streams, d = shape().width;
  expect_fused_equals_composite(
      [](const auto& a) {
        const WithInput aggregate = stream_aggregate(a[0], a[1]);
        return torch::cat({aggregate.y, aggregate.x.square()}, -1);
      },
      {tokens(n), tokens(n * d)});
  for (const bool shared : {true, false}) {
    const Tensor y = tokens(shared ? d : n * d);
    expect_fused_equals_composite(
        [](const auto& a) { return stream_update(a[0], a[1], a[2], a[3]); },
        {logits(), tokens(n * d), tokens(n), y});
    expect_fused_equals_composite([](const auto& a) { return stream_update({}, a[0], a[1], a[2]); },
                                  {tokens(n * d), tokens(n), y});
  }
}

TEST_P(FusedOps, Sinkhorn) {
  expect_fused_equals_composite([](const auto& a) { return sinkhorn(a[0]); }, {logits()});
}

TEST_P(FusedOps, Routing) {
  const int64_t n = shape().streams, in = n * shape().width;
  for (const int64_t matrices : {2, 3}) {
    const std::vector<Tensor> inputs{tokens(in), 1 + 0.1 * normal({in}), normal({in}),
                                     normal({matrices * n * n, in}) / 3,
                                     normal({matrices * n * n})};
    const auto routed = [=](const auto& a) {
      return route(a[0], {a[1], a[2]}, {a[3], a[4]}, n, {0.2, 3});
    };
    expect_fused_equals_composite(
        [=](const auto& a) {
          const Routed r = routed(a);
          return r.update(r.aggregate.sin());
        },
        inputs);
    // Without a norm, with an RMS norm, without biases.
    for (const bool rms : {false, true}) {
      expect_fused_equals_composite(
          [=](const auto& a) {
            const Routed r = route(a[0], {a[1], {}, rms}, {a[2], {}}, n);
            return r.update(r.aggregate);
          },
          {inputs[0], rms ? inputs[1] : Tensor(), inputs[3]});
    }
    // x in another order in memory, and the parameters frozen.
    expect_fused_equals_composite(
        [=](const auto& a) {
          const auto frozen = [&](int i) { return inputs[i].to(a[0].scalar_type()); };
          const Routed r =
              route(a[0].transpose(0, 1), {frozen(1), frozen(2)}, {frozen(3), frozen(4)}, n);
          return r.update(r.aggregate);
        },
        {inputs[0]});
    // The parameters alone.
    expect_fused_equals_composite(
        [=](const auto& a) {
          const Routed r = route(inputs[0].to(a[0].scalar_type()), {a[0], a[1]}, {a[2], a[3]}, n);
          return r.update(r.aggregate);
        },
        {inputs[1], inputs[2], inputs[3], inputs[4]});
    // Each output alone: the others then have no gradient.
    expect_fused_equals_composite([=](const auto& a) { return routed(a).aggregate; }, inputs);
    expect_fused_equals_composite([=](const auto& a) { return routed(a).post; }, inputs);
    if (matrices == 2) continue;
    expect_fused_equals_composite([=](const auto& a) { return routed(a).h_res; }, inputs);
    // A regulariser on the operator, beside its use.
    expect_fused_equals_composite(
        [=](const auto& a) {
          const Routed r = routed(a);
          return r.update(r.aggregate) + r.h_res.square().sum({-1, -2}).unsqueeze(-1);
        },
        inputs);
  }
}

TEST_P(FusedOps, SequenceMeanWithItsInput) {
  expect_fused_equals_composite(
      [](const auto& a) {
        const WithInput mean = pool(a[0], Pool::sequence);
        return mean.y + mean.x.square();
      },
      {tokens(shape().streams * shape().width)});
}

TEST_P(FusedOps, PrefixMean) {
  expect_fused_equals_composite([](const auto& a) { return pool(a[0], Pool::prefix).y; },
                                {tokens(shape().streams * shape().width)});
}

// One operator a sequence and one a token, the gate anywhere and at its ends.
void expect_operator(Tensor (*matrix)(const Tensor& u, const Tensor& v, const Tensor& beta,
                                      const Tensor& k, const Tensor& gamma),
                     const Shape& shape, int64_t n) {
  for (const int64_t operators : {int64_t{1}, shape.length}) {
    const auto vectors = [&](int64_t size) {
      return torch::randn({shape.batch, operators, size}, torch::kFloat64);
    };
    Tensor gamma = torch::sigmoid(vectors(1));
    for (int64_t i = 0; i < std::min<int64_t>(3, gamma.numel()); ++i) {
      gamma.view({-1})[i] = static_cast<double>(i) / 2;
    }
    expect_fused_equals_composite(
        [=](const auto& a) { return matrix(a[0], a[1], a[2].exp(), a[3], a[4]); },
        {vectors(n), vectors(n), vectors(1), vectors(n), gamma});
  }
}

TEST_P(FusedOps, HybridMatrix) { expect_operator(hybrid_matrix, shape(), shape().streams); }

TEST_P(FusedOps, GeodesicMatrix) {
  expect_operator(geodesic_matrix, shape(), std::max<int64_t>(2, shape().streams));
}

TEST_P(FusedOps, UnitaryMatrix) { expect_operator(unitary_matrix, shape(), 2 * shape().streams); }

TEST_P(FusedOps, RmsNormalise) {
  expect_fused_equals_composite([](const auto& a) { return rms_normalise(a[0], 1e-5); },
                                {tokens(shape().streams * shape().width)});
}

TEST_P(FusedOps, SwiGlu) {
  const int64_t in = shape().streams * shape().width, inner = 2 * in + 3;
  const Tensor x = tokens(in), gate_up = normal({2 * inner, in}) / 3,
               down = normal({in, inner}) / 3;
  expect_fused_equals_composite([](const auto& a) { return swiglu(a[0], a[1], a[2]); },
                                {x, gate_up, down});
  expect_fused_equals_composite([](const auto& a) { return normed_swiglu(a[0], a[1], a[2], 1e-5); },
                                {x, gate_up, down});
  // The weights frozen.
  expect_fused_equals_composite(
      [&](const auto& a) {
        const auto type = a[0].scalar_type();
        return normed_swiglu(a[0], gate_up.to(type), down.to(type), 1e-5);
      },
      {x});
}

TEST_P(FusedOps, SwiGluOverPositions) {
  const int64_t length = shape().length, inner = 2 * length + 3;
  expect_fused_equals_composite(
      [](const auto& a) { return normed_swiglu_over_positions(a[0], a[1], a[2], 1e-5); },
      {tokens(shape().streams * shape().width), normal({2 * inner, length}) / 3,
       normal({length, inner}) / 3});
}

TEST_P(FusedOps, WholeAttention) {
  const int64_t width = 2 * shape().streams * shape().width;
  for (const int64_t heads : {int64_t{1}, shape().streams}) {
    const RotaryTables tables = rotary_tables(shape().length, width / heads, 100, torch::kFloat64);
    for (const bool turned : {false, true}) {
      expect_fused_equals_composite(
          [&](const auto& a) {
            const auto type = a[0].scalar_type();
            return whole_attention(
                a[0], heads,
                turned ? RotaryTables{tables.cos.to(type), tables.sin.to(type)} : RotaryTables{});
          },
          {tokens(3 * width)});
    }
  }
}

TEST_P(FusedOps, TokenHybrid) {
  const int64_t n = shape().streams, width = n * shape().width;
  const std::vector<Tensor> inputs{tokens(width), tokens(2 * n + 2 + width)};
  expect_fused_equals_composite(
      [=](const auto& a) {
        const TokenHybrid moved = token_hybrid(a[0], a[1], n);
        return moved.y + moved.gamma.square();
      },
      inputs);
  // Each output alone: the other then has no gradient.
  expect_fused_equals_composite([=](const auto& a) { return token_hybrid(a[0], a[1], n).y; },
                                inputs);
}

TEST_P(FusedOps, Delta) {
  const int64_t width = shape().streams * shape().width;
  for (const int64_t operators : {int64_t{1}, shape().length}) {
    expect_fused_equals_composite(
        [](const auto& a) { return delta(a[0], 2 * torch::sigmoid(a[1]), a[2]); },
        {normal({shape().batch, operators, width}), normal({shape().batch, operators, 1}),
         tokens(width)});
  }
}

TEST_P(FusedOps, LinearWithItsInputAndAnRmsNorm) {
  const int64_t in = shape().streams * shape().width, out = in + 5;
  for (const bool rms : {false, true}) {
    for (const bool normed : {false, true}) {
      expect_fused_equals_composite(
          [=](const auto& a) {
            const WithInput both = linear_with_input(a[0], {a[1], {}, rms}, {a[2], a[3]});
            return torch::cat({both.y, both.x.square()}, -1);
          },
          {tokens(in), normed ? 1 + 0.1 * normal({in}) : Tensor(), normal({out, in}),
           normal({out})});
    }
  }
}

TEST(Routing, RefusesOtherShapes) {
  torch::manual_seed(1);
  const auto parameter = [](std::vector<int64_t> sizes) {
    return torch::randn(sizes, torch::requires_grad());
  };
  const Tensor x = torch::randn({2, 3, 8}), weight = parameter({12, 8});
  EXPECT_THROW(route(x, {}, {parameter({16, 8}), {}}, 2), c10::Error);
  EXPECT_THROW(route(x, {}, {parameter({12, 10}), {}}, 2), c10::Error);

  const torch::NoGradGuard no_gradients;
  const Routed inference = route(x, {}, {weight, {}}, 2);
  EXPECT_EQ(inference.update(inference.aggregate).sizes(), x.sizes());
}

INSTANTIATE_TEST_SUITE_P(Shapes, FusedOps,
                         testing::Combine(testing::Values(Shape{1, 1, 4, 8}, Shape{2, 33, 3, 7},
                                                          Shape{1, 65, 2, 20}, Shape{3, 10, 8, 3},
                                                          Shape{2, 40, 4, 32}, Shape{1, 5, 1, 9},
                                                          Shape{1, 3, 17, 2}),
                                          testing::Values(int64_t{1}, int64_t{2}, int64_t{5})));

}  // namespace
}  // namespace edelta::ops
