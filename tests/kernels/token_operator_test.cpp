#include "kernels/iterative_cayley.h"
#include "kernels/mixer_weights.h"
#include "kernels/sinkhorn.h"

#include "kernels/close.h"
#include "kernels/token_operator_reference.h"

namespace edelta::kernels {
namespace {

using Function = std::function<Values(const Values&)>;

Values sinkhorn(Values p, int64_t n, int64_t iterations) {
  for (double& value : p) value = std::exp(value);
  const auto divide = [&](int64_t between, int64_t within) {
    for (int64_t i = 0; i < n; ++i) {
      double total = 1e-8;
      for (int64_t j = 0; j < n; ++j) total += p[i * between + j * within];
      for (int64_t j = 0; j < n; ++j) p[i * between + j * within] /= total;
    }
  };
  for (int64_t k = 0; k < iterations; ++k) {
    divide(n, 1);
    divide(1, n);
  }
  return p;
}

// A kernel's view of its logits: rows of `stride`, the token's n² logits at `offset`.
struct Logits {
  Logits(int64_t tokens, int64_t n, int64_t stride, int64_t offset, float scale)
      : tokens(tokens),
        entries(n * n),
        stride(stride),
        offset(offset),
        rows(random_values(tokens * stride, 7, scale)) {}

  Values token(int64_t t) const {
    const auto first = rows.begin() + t * stride + offset;
    return {first, first + entries};
  }

  int64_t tokens, entries, stride, offset;
  std::vector<float> rows;
};

// f of each token, and the gradient of Σ weight·f placed where the logits are; 0 elsewhere.
void expect_forward(const Logits& logits, const Function& f, const std::vector<float>& values,
                    const std::string& what) {
  Values reference;
  for (int64_t t = 0; t < logits.tokens; ++t) {
    const Values of_token = f(logits.token(t));
    reference.insert(reference.end(), of_token.begin(), of_token.end());
  }
  expect_close(values, reference, kValueTolerance, what);
}

Values gradient_rows(const Logits& logits, const Function& f, const std::vector<float>& weight) {
  Values rows(logits.tokens * logits.stride);
  const int64_t outputs = static_cast<int64_t>(weight.size()) / logits.tokens;
  for (int64_t t = 0; t < logits.tokens; ++t) {
    const Values of_token(weight.begin() + t * outputs, weight.begin() + (t + 1) * outputs);
    const Values gradient = numeric_gradient(f, logits.token(t), of_token);
    std::copy(gradient.begin(), gradient.end(), rows.begin() + t * logits.stride + logits.offset);
  }
  return rows;
}

// Streams n and tokens N.
class TokenOperatorTest : public testing::TestWithParam<std::tuple<int64_t, int64_t>> {
 protected:
  const int64_t n = std::get<0>(GetParam());
  const int64_t tokens = std::get<1>(GetParam());
  const int64_t entries = n * n;
  const int64_t stride = 3 * n * n + 1;  // three matrices and a stranger in each row
  const TokenOperatorShape shape{tokens, n, stride};
};

// With the largest scale float32's exponentials do not reach from one logit to the other.
TEST_P(TokenOperatorTest, SinkhornMatchesTheDefinition) {
  for (const float scale : {1.0F, 4.0F, 60.0F}) {
    const Logits logits(tokens, n, stride, 2 * entries, scale);
    const auto dh = random_values(tokens * entries, 8);
    const Function f = [&](const Values& z) { return sinkhorn(z, n, 20); };
    const Values reference = gradient_rows(logits, f, dh);
    with_threads([&] {
      auto h = unwritten(tokens * entries);
      std::vector<float> dz(tokens * stride), again(tokens * stride);
      const float* z = logits.rows.data() + logits.offset;
      sinkhorn_forward({shape, 20, z, h.data()});
      expect_forward(logits, f, h, "h");
      sinkhorn_backward({shape, 20, z, dh.data(), dz.data() + logits.offset});
      expect_close(dz, reference, kGradientTolerance, "dz");
      sinkhorn_backward({shape, 20, z, dh.data(), again.data() + logits.offset});
      expect_same_bits(dz, again, "dz");
    });
  }
}

TEST_P(TokenOperatorTest, IterativeCayleyMatchesTheDefinition) {
  for (const int64_t iterations : {0, 1, 2, 5}) {
    const Logits logits(tokens, n, stride, 2 * entries, 1);
    const auto dh = random_values(tokens * entries, 8);
    const Function f = [&](const Values& z) { return iterative_cayley(z, n, 0.1, iterations); };
    const Values reference = gradient_rows(logits, f, dh);
    with_threads([&] {
      auto h = unwritten(tokens * entries);
      std::vector<float> dz(tokens * stride);
      const float* z = logits.rows.data() + logits.offset;
      iterative_cayley_forward({shape, iterations, 0.1F, z, h.data()});
      expect_forward(logits, f, h, "h");
      iterative_cayley_backward({shape, iterations, 0.1F, z, dh.data(), dz.data() + logits.offset});
      expect_close(dz, reference, kGradientTolerance, "dz");
    });
  }
}

TEST_P(TokenOperatorTest, MixerWeightsMatchTheDefinition) {
  const Logits pre(tokens, n, stride, 0, 2), post(tokens, n, stride, entries, 2);
  const auto dpre = random_values(tokens * n, 8), dpost = random_values(tokens * n, 9);
  const Function f_pre = [&](const Values& z) { return mixer(z, n, n, 1, 1.0 / n); };
  const Function f_post = [&](const Values& z) { return mixer(z, n, 1, n, 1); };
  Values reference = gradient_rows(pre, f_pre, dpre);
  const Values reference_post = gradient_rows(post, f_post, dpost);
  for (size_t i = 0; i < reference.size(); ++i) reference[i] += reference_post[i];
  with_threads([&] {
    auto pre_weights = unwritten(tokens * n), post_weights = unwritten(tokens * n);
    std::vector<float> dz(tokens * stride);
    const float* z = pre.rows.data();
    mixer_weights_forward({shape, z, z + entries, pre_weights.data(), post_weights.data()});
    expect_forward(pre, f_pre, pre_weights, "pre");
    expect_forward(post, f_post, post_weights, "post");
    mixer_weights_backward(
        {shape, z, z + entries, dpre.data(), dpost.data(), dz.data(), dz.data() + entries});
    expect_close(dz, reference, kGradientTolerance, "dz");
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, TokenOperatorTest,
                         testing::Combine(testing::Values(1, 2, 3, 4, 5, 8),
                                          testing::Values(1, 15, 37)),
                         [](const auto& info) {
                           return (testing::Message() << "n" << std::get<0>(info.param) << "N"
                                                      << std::get<1>(info.param))
                               .GetString();
                         });
INSTANTIATE_TEST_SUITE_P(ManyStreams, TokenOperatorTest,
                         testing::Values(std::tuple{16, 17}, std::tuple{17, 3}));

// exp(100) overflows float32, exp(−100) vanishes; the result is still that of the definition.
TEST(Sinkhorn, FarLogitsNeitherOverflowNorDivideByZero) {
  const std::vector<float> z = {100, 99, -3, 2, 0, 1, -100, -101, -99};
  const Values reference = sinkhorn(widen(z), 3, 20);
  std::vector<float> h(9), dz(9);
  const std::vector<float> dh(9, 1);
  sinkhorn_forward({{1, 3, 9}, 20, z.data(), h.data()});
  expect_close(h, reference, kValueTolerance, "h");
  sinkhorn_backward({{1, 3, 9}, 20, z.data(), dh.data(), dz.data()});
  for (const float value : dz) EXPECT_TRUE(std::isfinite(value));
}

}  // namespace
}  // namespace edelta::kernels
