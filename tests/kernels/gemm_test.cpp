#include "kernels/gemm.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace edelta::kernels {
namespace {

using Shape = std::tuple<int64_t, int64_t, int64_t>;

class GemmTest : public testing::TestWithParam<std::tuple<Shape, Gemm::A, Gemm::C>> {};

TEST_P(GemmTest, MatchesTheDefinition) {
  const auto [shape, a_form, c_form] = GetParam();
  const auto [m, n, k] = shape;
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  const bool transposed = a_form == Gemm::A::transposed;
  const Gemm::Strides strides{(transposed ? m : k) + 3, n + 1, n + 2};
  std::vector<float> a((transposed ? k : m) * strides.a), b(k * strides.b), c(m * strides.c);
  for (auto* values : {&a, &b, &c}) {
    for (float& value : *values) value = normal(random);
  }
  const std::vector<float> before = c;
  Gemm(m, n, k, strides, a_form, c_form)(a.data(), b.data(), c.data());
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < strides.c; ++j) {
      double expected = before[i * strides.c + j];
      if (j < n) {
        if (c_form == Gemm::C::overwrite) expected = 0;
        for (int64_t p = 0; p < k; ++p) {
          expected +=
              static_cast<double>(transposed ? a[p * strides.a + i] : a[i * strides.a + p]) *
              b[p * strides.b + j];
        }
      }
      EXPECT_NEAR(c[i * strides.c + j], expected, 1e-4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, GemmTest,
    testing::Combine(testing::Values(Shape{1, 1, 1}, Shape{48, 128, 128}, Shape{7, 33, 5},
                                     Shape{16, 512, 100}, Shape{3, 1, 17}),
                     testing::Values(Gemm::A::plain, Gemm::A::transposed),
                     testing::Values(Gemm::C::overwrite, Gemm::C::accumulate)));

}  // namespace
}  // namespace edelta::kernels
