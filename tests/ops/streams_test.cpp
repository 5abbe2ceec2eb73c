#include "edelta/ops/streams.h"

#include <gtest/gtest.h>

#include "gradient_check.h"
#include "tensor_checks.h"

namespace edelta::ops {
namespace {

using namespace test;

constexpr int64_t kBatch = 2, kLength = 3, kStreams = 4, kStreamWidth = 5;
constexpr int64_t kWidth = kStreams * kStreamWidth;

Tensor tokens() { return normal({kBatch, kLength, kWidth}); }

// Σ_j G_ij x_j with stream j the slice [j·d, (j+1)·d), number by number; G may be one a sequence.
Tensor mixed(const Tensor& g, const Tensor& x) {
  Tensor y = torch::zeros_like(x);
  const auto from = x.accessor<double, 3>();
  auto to = y.accessor<double, 3>();
  const Tensor each = g.expand({kBatch, kLength, kStreams, kStreams}).contiguous();
  const auto by = each.accessor<double, 4>();
  for (int64_t b = 0; b < kBatch; ++b)
    for (int64_t t = 0; t < kLength; ++t)
      for (int64_t i = 0; i < kStreams; ++i)
        for (int64_t j = 0; j < kStreams; ++j)
          for (int64_t c = 0; c < kStreamWidth; ++c) {
            to[b][t][i * kStreamWidth + c] += by[b][t][i][j] * from[b][t][j * kStreamWidth + c];
          }
  return y;
}

// Stream i of every token.
Tensor stream(const Tensor& x, int64_t i) { return x.narrow(-1, i * kStreamWidth, kStreamWidth); }

TEST(Streams, MixMatchesItsDefinition) {
  torch::manual_seed(1);
  const Tensor x = tokens();
  for (const int64_t operators : {int64_t{1}, kLength}) {
    const Tensor g = normal({kBatch, operators, kStreams, kStreams});
    EXPECT_LT(difference(stream_mix(g, x), mixed(g, x)), 1e-14);
  }
}

TEST(Streams, AggregateMatchesItsDefinition) {
  torch::manual_seed(2);
  const Tensor x = tokens();
  const Tensor w = normal({kBatch, kLength, kStreams});
  Tensor expected = torch::zeros({kBatch, kLength, kStreamWidth}, torch::kFloat64);
  for (int64_t i = 0; i < kStreams; ++i) expected += w.narrow(-1, i, 1) * stream(x, i);
  EXPECT_LT(difference(stream_aggregate(w, x).y, expected), 1e-14);
}

TEST(Streams, UpdateMatchesItsDefinition) {
  torch::manual_seed(3);
  const Tensor x = tokens();
  const Tensor w = normal({kBatch, kLength, kStreams});
  const Tensor h = normal({kBatch, kLength, kStreams, kStreams});
  for (const bool shared : {false, true}) {
    const Tensor y = shared ? normal({kBatch, kLength, kStreamWidth}) : tokens();
    for (const Tensor& residual : {h, Tensor()}) {
      const Tensor mixed_x = residual.defined() ? mixed(residual, x) : x;
      const Tensor updated = stream_update(residual, x, w, y);
      for (int64_t i = 0; i < kStreams; ++i) {
        const Tensor expected =
            stream(mixed_x, i) + w.narrow(-1, i, 1) * (shared ? y : stream(y, i));
        EXPECT_LT(difference(stream(updated, i), expected), 1e-14) << shared << i;
      }
    }
  }
}

TEST(Streams, StraightThroughHasOneValueAndTheOthersGradient) {
  torch::manual_seed(4);
  const Tensor forward = normal({kBatch, 1, kStreams, kStreams}).requires_grad_();
  const Tensor backward = normal({kBatch, 1, kStreams, kStreams}).requires_grad_();
  const Tensor x = tokens().requires_grad_();
  const Tensor y = stream_mix(forward, backward, x);
  EXPECT_TRUE(torch::equal(y, stream_mix(forward, x)));
  const Tensor direction = normal(y.sizes());
  const auto gradients = torch::autograd::grad({(direction * y).sum()}, {backward, x});
  const auto expected =
      torch::autograd::grad({(direction * stream_mix(backward, x)).sum()}, {backward, x});
  EXPECT_TRUE(torch::equal(gradients[0], expected[0]));
  EXPECT_TRUE(torch::equal(gradients[1], expected[1]));
}

TEST(Streams, Gradients) {
  torch::manual_seed(5);
  const Tensor w = normal({kBatch, kLength, kStreams});
  const Tensor h = normal({kBatch, kLength, kStreams, kStreams});
  const Tensor shared = normal({kBatch, kLength, kStreamWidth});
  const auto mix = [](const auto& in) { return stream_mix(in[0], in[1]); };
  expect_gradient(mix, {h, tokens()});
  expect_gradient(mix, {h.narrow(1, 0, 1), tokens()});
  expect_gradient([](const auto& in) { return stream_aggregate(in[0], in[1]).y; }, {w, tokens()});
  const auto update = [](const auto& in) { return stream_update(in[0], in[1], in[2], in[3]); };
  expect_gradient(update, {h, tokens(), w, tokens()});
  expect_gradient(update, {h, tokens(), w, shared});
  expect_gradient([](const auto& in) { return stream_update({}, in[0], in[1], in[2]); },
                  {tokens(), w, shared});
}

}  // namespace
}  // namespace edelta::ops
