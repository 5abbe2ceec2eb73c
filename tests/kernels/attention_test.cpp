#include "kernels/attention.h"

#include "kernels/close.h"

namespace edelta::kernels {
namespace {

struct Reference {
  std::vector<double> out, lse, dqkv;
};

// The definition, one head at a time.
void add_head(const AttentionShape& shape, bool causal, int64_t b, int64_t head,
              const std::vector<double>& qkv, const std::vector<float>& dout,
              Reference& reference) {
  const auto [batch, tokens, heads, size] = shape;
  const double scale = 1 / std::sqrt(static_cast<double>(size));
  const auto at = [&, heads = heads, tokens = tokens, size = size](int64_t part, int64_t t) {
    return ((b * tokens + t) * 3 + part) * heads * size + head * size;
  };
  for (int64_t q = 0; q < tokens; ++q) {
    const int64_t keys = causal ? q + 1 : tokens;
    std::vector<double> p(keys), dp(keys);
    double total = 0;
    for (int64_t k = 0; k < keys; ++k) {
      for (int64_t c = 0; c < size; ++c) p[k] += scale * qkv[at(0, q) + c] * qkv[at(1, k) + c];
    }
    const double top = *std::max_element(p.begin(), p.end());
    for (double& value : p) total += value = std::exp(value - top);
    reference.lse[(b * heads + head) * tokens + q] = top + std::log(total);
    const int64_t out_at = ((b * tokens + q) * heads + head) * size;
    double mean = 0;
    for (int64_t k = 0; k < keys; ++k) {
      p[k] /= total;
      for (int64_t c = 0; c < size; ++c) {
        reference.out[out_at + c] += p[k] * qkv[at(2, k) + c];
        reference.dqkv[at(2, k) + c] += p[k] * dout[out_at + c];
        dp[k] += static_cast<double>(dout[out_at + c]) * qkv[at(2, k) + c];
      }
      mean += p[k] * dp[k];
    }
    for (int64_t k = 0; k < keys; ++k) {
      const double ds = p[k] * (dp[k] - mean) * scale;
      for (int64_t c = 0; c < size; ++c) {
        reference.dqkv[at(0, q) + c] += ds * qkv[at(1, k) + c];
        reference.dqkv[at(1, k) + c] += ds * qkv[at(0, q) + c];
      }
    }
  }
}

// The queries and keys of qkv, or of its gradient, turned by the angles t·2^−c of the pairs of
// channels c and c + s/2.
void turn(const AttentionShape& shape, double direction, std::vector<double>& qkv) {
  const auto [batch, tokens, heads, size] = shape;
  for (int64_t row = 0; row < batch * tokens; ++row) {
    for (int64_t head = 0; head < 2 * heads; ++head) {
      double* x = qkv.data() + row * 3 * heads * size + head * size;
      for (int64_t c = 0; c < size / 2; ++c) {
        const double angle = direction * static_cast<double>(row % tokens) * std::exp2(-c);
        const double a = x[c], b = x[c + size / 2];
        x[c] = a * std::cos(angle) - b * std::sin(angle);
        x[c + size / 2] = b * std::cos(angle) + a * std::sin(angle);
      }
    }
  }
}

class AttentionTest : public testing::TestWithParam<AttentionShape> {
 protected:
  void check(float scale, bool causal = true, bool turned = false) {
    const AttentionShape shape = GetParam();
    const int64_t count = shape.batch * shape.tokens * shape.heads * shape.head_size;
    const int64_t rows = shape.batch * shape.heads * shape.tokens;
    const auto qkv = random_values(3 * count, 1, scale);
    const auto dout = random_values(count, 2);
    Reference reference{std::vector<double>(count), std::vector<double>(rows),
                        std::vector<double>(3 * count)};
    std::vector<double> seen = widen(qkv);
    if (turned) turn(shape, 1, seen);
    for (int64_t b = 0; b < shape.batch; ++b) {
      for (int64_t head = 0; head < shape.heads; ++head) {
        add_head(shape, causal, b, head, seen, dout, reference);
      }
    }
    if (turned) turn(shape, -1, reference.dqkv);
    const int64_t size = shape.head_size;
    std::vector<float> cos, sin;
    for (int64_t i = 0; turned && i < shape.tokens * size; ++i) {
      const double angle =
          static_cast<double>(i / size) * std::exp2(-static_cast<double>(i % size % (size / 2)));
      cos.push_back(static_cast<float>(std::cos(angle)));
      sin.push_back(static_cast<float>(std::sin(angle)));
    }
    const RotaryAngles rotary{turned ? cos.data() : nullptr, turned ? sin.data() : nullptr};
    const auto forward = [&](float* out, float* lse) {
      attention_forward({.shape = shape,
                         .qkv = qkv.data(),
                         .out = out,
                         .lse = lse,
                         .causal = causal,
                         .rotary = rotary});
    };
    const auto backward = [&](const std::vector<float>& out, const std::vector<float>& lse,
                              std::vector<float>& dqkv) {
      attention_backward({.shape = shape,
                          .qkv = qkv.data(),
                          .out = out.data(),
                          .lse = lse.data(),
                          .dout = dout.data(),
                          .dqkv = dqkv.data(),
                          .causal = causal,
                          .rotary = rotary});
    };
    with_threads([&] {
      auto out = unwritten(count), lse = unwritten(rows), dqkv = unwritten(3 * count);
      forward(out.data(), lse.data());
      backward(out, lse, dqkv);
      expect_close(out, reference.out, kValueTolerance, "out");
      expect_close(lse, reference.lse, kValueTolerance, "lse");
      expect_close(dqkv, reference.dqkv, kGradientTolerance, "dqkv");

      auto again = unwritten(count), dagain = unwritten(3 * count);
      forward(again.data(), nullptr);
      backward(out, lse, dagain);
      expect_same_bits(out, again, "out, without lse");
      expect_same_bits(dqkv, dagain, "dqkv");
    });
  }
};

TEST_P(AttentionTest, MatchesTheDefinition) { check(1); }

TEST_P(AttentionTest, MatchesTheDefinitionWithoutAMask) { check(1, /*causal=*/false); }

TEST_P(AttentionTest, MatchesTheDefinitionWithRotaryPositions) {
  if (GetParam().head_size % 2 != 0) return;  // there are no pairs
  check(1, /*causal=*/false, /*turned=*/true);
  check(1, /*causal=*/true, /*turned=*/true);
}

// Scores of a hundred and more: exp would overflow without the running maximum.
TEST_P(AttentionTest, StaysExactWithLargeScores) { check(5); }

std::string name_of(const testing::TestParamInfo<AttentionShape>& info) {
  const auto [batch, tokens, heads, size] = info.param;
  return (testing::Message() << "B" << batch << "T" << tokens << "h" << heads << "s" << size)
      .GetString();
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, AttentionTest,
    testing::Values(AttentionShape{1, 1, 1, 1}, AttentionShape{3, 1, 2, 8},
                    AttentionShape{1, 2, 3, 5}, AttentionShape{3, 31, 4, 32},
                    AttentionShape{1, 32, 2, 33}, AttentionShape{3, 65, 2, 5},
                    AttentionShape{1, 65, 1, 256}, AttentionShape{1, 127, 4, 64},
                    AttentionShape{3, 255, 4, 32}, AttentionShape{1, 255, 1, 33},
                    AttentionShape{1, 300, 2, 8}, AttentionShape{1, 600, 1, 1}),
    name_of);

TEST(Attention, NotANumberStaysVisible) {
  const AttentionShape shape{1, 40, 1, 8};
  auto qkv = random_values(40 * 24, 1);
  qkv[3 * 24 + 8] = std::numeric_limits<float>::quiet_NaN();  // a key of position 3
  std::vector<float> out(40 * 8);
  attention_forward({shape, qkv.data(), out.data(), nullptr});
  for (int64_t t = 0; t < 40; ++t) EXPECT_EQ(std::isnan(out[t * 8]), t >= 3) << t;
}

}  // namespace
}  // namespace edelta::kernels
