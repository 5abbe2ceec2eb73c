#include "kernels/attention.h"

#include "kernels/close.h"

namespace edelta::kernels {
namespace {

struct Reference {
  std::vector<double> out, lse, dqkv;
};

// The definition, one head at a time.
void add_head(const AttentionShape& shape, int64_t b, int64_t head, const std::vector<float>& qkv,
              const std::vector<float>& dout, Reference& reference) {
  const auto [batch, tokens, heads, size] = shape;
  const double scale = 1 / std::sqrt(static_cast<double>(size));
  const auto at = [&, heads = heads, tokens = tokens, size = size](int64_t part, int64_t t) {
    return ((b * tokens + t) * 3 + part) * heads * size + head * size;
  };
  for (int64_t q = 0; q < tokens; ++q) {
    std::vector<double> p(q + 1), dp(q + 1);
    double total = 0;
    for (int64_t k = 0; k <= q; ++k) {
      for (int64_t c = 0; c < size; ++c) p[k] += scale * qkv[at(0, q) + c] * qkv[at(1, k) + c];
    }
    const double top = *std::max_element(p.begin(), p.end());
    for (double& value : p) total += value = std::exp(value - top);
    reference.lse[(b * heads + head) * tokens + q] = top + std::log(total);
    const int64_t out_at = ((b * tokens + q) * heads + head) * size;
    double mean = 0;
    for (int64_t k = 0; k <= q; ++k) {
      p[k] /= total;
      for (int64_t c = 0; c < size; ++c) {
        reference.out[out_at + c] += p[k] * qkv[at(2, k) + c];
        reference.dqkv[at(2, k) + c] += p[k] * dout[out_at + c];
        dp[k] += static_cast<double>(dout[out_at + c]) * qkv[at(2, k) + c];
      }
      mean += p[k] * dp[k];
    }
    for (int64_t k = 0; k <= q; ++k) {
      const double ds = p[k] * (dp[k] - mean) * scale;
      for (int64_t c = 0; c < size; ++c) {
        reference.dqkv[at(0, q) + c] += ds * qkv[at(1, k) + c];
        reference.dqkv[at(1, k) + c] += ds * qkv[at(0, q) + c];
      }
    }
  }
}

class AttentionTest : public testing::TestWithParam<AttentionShape> {
 protected:
  void check(float scale) {
    const AttentionShape shape = GetParam();
    const int64_t count = shape.batch * shape.tokens * shape.heads * shape.head_size;
    const int64_t rows = shape.batch * shape.heads * shape.tokens;
    const auto qkv = random_values(3 * count, 1, scale);
    const auto dout = random_values(count, 2);
    Reference reference{std::vector<double>(count), std::vector<double>(rows),
                        std::vector<double>(3 * count)};
    for (int64_t b = 0; b < shape.batch; ++b) {
      for (int64_t head = 0; head < shape.heads; ++head) {
        add_head(shape, b, head, qkv, dout, reference);
      }
    }
    with_threads([&] {
      auto out = unwritten(count), lse = unwritten(rows), dqkv = unwritten(3 * count);
      attention_forward({shape, qkv.data(), out.data(), lse.data()});
      attention_backward({shape, qkv.data(), out.data(), lse.data(), dout.data(), dqkv.data()});
      expect_close(out, reference.out, kValueTolerance, "out");
      expect_close(lse, reference.lse, kValueTolerance, "lse");
      expect_close(dqkv, reference.dqkv, kGradientTolerance, "dqkv");

      auto again = unwritten(count), dagain = unwritten(3 * count);
      attention_forward({shape, qkv.data(), again.data(), nullptr});
      attention_backward({shape, qkv.data(), out.data(), lse.data(), dout.data(), dagain.data()});
      expect_same_bits(out, again, "out, without lse");
      expect_same_bits(dqkv, dagain, "dqkv");
    });
  }
};

TEST_P(AttentionTest, MatchesTheDefinition) { check(1); }

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
