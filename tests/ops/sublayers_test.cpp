#include "edelta/ops/attention.h"
#include "edelta/ops/mlp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gradient_check.h"
#include "tensor_checks.h"

namespace edelta::ops {
namespace {

using namespace test;

constexpr int64_t kBatch = 2, kLength = 5, kWidth = 6, kHidden = 8;

Tensor tokens(int64_t width = kWidth) { return normal({kBatch, kLength, width}); }

Tensor normalised(const Tensor& x) {
  const Tensor centred = x - x.mean(-1, true);
  return centred / (centred.square().mean(-1, true) + 1e-5).sqrt();
}

Tensor erf_gelu(const Tensor& x) { return x * (1 + torch::erf(x / std::sqrt(2.0))) / 2; }

Tensor shifted(const Tensor& y, const Tensor& b) { return b.defined() ? y + b : y; }

TEST(Sublayers, NormsMatchTheirDefinitions) {
  torch::manual_seed(1);
  const Tensor x = tokens();
  const Tensor weight = normal({kWidth});
  const Tensor bias = normal({kWidth});
  EXPECT_LT(difference(normalise(x, {weight, bias}), normalised(x) * weight + bias), 1e-14);
  EXPECT_LT(difference(normalise(x, {weight, {}}), normalised(x) * weight), 1e-14);
  EXPECT_TRUE(torch::equal(normalise(x, Norm{}), x));
  EXPECT_LT(difference(normalise(x, {weight, {}, true}),
                       x / (x.square().mean(-1, true) + 1e-6).sqrt() * weight),
            1e-14);
}

TEST(Sublayers, LinearAndMlpMatchTheirDefinitions) {
  torch::manual_seed(2);
  const Tensor x = tokens();
  const Tensor scale = normal({kWidth}), shift = normal({kWidth});
  const Tensor w_fc = normal({kHidden, kWidth}), w_proj = normal({kWidth, kHidden});
  for (const bool biased : {false, true}) {
    const Affine fc{w_fc, biased ? normal({kHidden}) : Tensor()};
    const Affine proj{w_proj, biased ? normal({kWidth}) : Tensor()};
    const Tensor n = normalised(x) * scale + shift;
    const Tensor hidden = shifted(n.matmul(w_fc.t()), fc.bias);
    const Tensor y = shifted(erf_gelu(hidden).matmul(w_proj.t()), proj.bias);
    const Tensor residual = tokens();
    const Norm norm{scale, shift};
    EXPECT_LT(difference(linear(x, norm, fc), hidden), 1e-13);
    EXPECT_LT(difference(linear(n, {}, fc), hidden), 1e-13);
    EXPECT_LT(difference(mlp(x, norm, fc, proj), y), 1e-13);
    EXPECT_LT(difference(mlp(x, norm, fc, proj, residual), residual + y), 1e-13);
    EXPECT_LT(difference(linear(hidden, {}, proj, residual),
                         residual + shifted(hidden.matmul(w_proj.t()), proj.bias)),
              1e-12);
  }
}

// softmax over positions ≤ t of q_t·k_s/√(D/h), times v_s; one head and position at a time.
Tensor attention_definition(const Tensor& qkv, int64_t heads) {
  const int64_t width = qkv.size(-1) / 3, head_width = width / heads;
  Tensor out = torch::empty({qkv.size(0), qkv.size(1), width}, qkv.options());
  for (int64_t h = 0; h < heads; ++h) {
    const auto part = [&](int64_t i) {
      return qkv.narrow(-1, i * width + h * head_width, head_width);
    };
    for (int64_t t = 0; t < qkv.size(1); ++t) {
      const Tensor past_k = part(1).narrow(1, 0, t + 1);
      const Tensor past_v = part(2).narrow(1, 0, t + 1);
      const Tensor score = (past_k * part(0).narrow(1, t, 1)).sum(-1, true) / std::sqrt(head_width);
      const Tensor weight = score.exp() / score.exp().sum(1, true);
      out.narrow(1, t, 1)
          .narrow(-1, h * head_width, head_width)
          .copy_((weight * past_v).sum(1, true));
    }
  }
  return out;
}

TEST(Attention, MatchesItsDefinition) {
  torch::manual_seed(3);
  for (const int64_t heads : {1, 2, 3, 6}) {
    const Tensor qkv = tokens(3 * kWidth);
    EXPECT_LT(difference(causal_attention(qkv, heads), attention_definition(qkv, heads)), 1e-14);
  }
}

TEST(Attention, IsCausalBitForBit) {
  torch::manual_seed(4);
  const Tensor qkv = tokens(3 * kWidth);
  const Tensor y = causal_attention(qkv, 2);
  for (int64_t t = 0; t + 1 < kLength; ++t) {
    Tensor changed = qkv.clone();
    changed.narrow(1, t + 1, kLength - t - 1).normal_();
    EXPECT_TRUE(
        torch::equal(causal_attention(changed, 2).narrow(1, 0, t + 1), y.narrow(1, 0, t + 1)));
  }
}

TEST(Attention, DropoutKeepsTheMean) {
  torch::manual_seed(5);
  const Tensor qkv = normal({1, 3, 3 * 4}).expand({20000, 3, 12});
  const Tensor y = causal_attention(qkv, 2, {.probability = 0.3});
  EXPECT_GT(difference(y[0], y[1]), 0);
  EXPECT_LT(difference(y.mean(0), causal_attention(qkv.narrow(0, 0, 1), 2)[0]), 0.05);
}

TEST(Sublayers, Gradients) {
  torch::manual_seed(6);
  // The fifth derivative of a norm over few numbers is large: a smaller step than usual.
  constexpr double kTolerance = 1e-8, kStep = 2e-4;
  const Tensor x = tokens(), scale = normal({kWidth}), shift = normal({kWidth});
  expect_gradient([](const auto& in) { return normalise(in[0], {in[1], in[2]}); },
                  {x, scale, shift});
  expect_gradient([](const auto& in) { return normalise(in[0], {in[1], {}, true}); }, {x, scale},
                  kTolerance, kStep);
  const Tensor w_fc = normal({kHidden, kWidth}), b_fc = normal({kHidden});
  const Tensor w_proj = normal({kWidth, kHidden}), b_proj = normal({kWidth});
  expect_gradient(
      [](const auto& in) { return linear(in[0], {in[1], in[2]}, {in[3], in[4]}, in[5]); },
      {x, scale, shift, w_fc, b_fc, tokens(kHidden)}, kTolerance, kStep);
  expect_gradient(
      [](const auto& in) {
        return mlp(in[0], {in[1], in[2]}, {in[3], in[4]}, {in[5], in[6]}, in[7]);
      },
      {x, scale, shift, w_fc, b_fc, w_proj, b_proj, tokens()}, kTolerance, kStep);
  expect_gradient([](const auto& in) { return causal_attention(in[0], 2); }, {tokens(3 * kWidth)});
  const Dropout dropout{.probability = 0.4, .key = 8, .site = 9};
  expect_gradient([&](const auto& in) { return causal_attention(in[0], 2, dropout); },
                  {tokens(3 * kWidth)});
  expect_gradient([&](const auto& in) { return linear(in[0], {}, {in[1], in[2]}, in[3], dropout); },
                  {x, w_fc, b_fc, tokens(kHidden)});
  expect_gradient([&](const auto& in) { return drop(in[0], dropout); }, {x});
}

}  // namespace
}  // namespace edelta::ops
