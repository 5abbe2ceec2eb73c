#include "edelta/ops/pooling.h"

#include <gtest/gtest.h>

#include "gradient_check.h"
#include "tensor_checks.h"

namespace edelta::ops {
namespace {

using namespace test;

TEST(Pooling, MatchesItsDefinition) {
  torch::manual_seed(1);
  const Tensor x = normal({2, 7, 3});
  EXPECT_LT(difference(pool(x, Pool::sequence).y, x.sum(1, true) / 7), 1e-15);
  EXPECT_TRUE(torch::equal(pool(x, Pool::token).y, x));
  const Tensor prefix = pool(x, Pool::prefix).y;
  for (int64_t t = 0; t < 7; ++t) {
    EXPECT_LT(difference(prefix.select(1, t), x.narrow(1, 0, t + 1).sum(1) / (t + 1)), 1e-15) << t;
  }
}

TEST(Pooling, PrefixMeanOfALongSequenceKeepsItsDigits) {
  torch::manual_seed(2);
  const Tensor x = (1 + 1e-3 * normal({1, 50000, 1})).to(torch::kFloat32);
  const Tensor mean = pool(x, Pool::prefix).y.select(1, -1);
  EXPECT_LT(difference(mean, x.to(torch::kFloat64).mean(1)), 1e-7);
}

TEST(Pooling, Gradients) {
  torch::manual_seed(3);
  for (const Pool kind : {Pool::sequence, Pool::prefix, Pool::token}) {
    expect_gradient([kind](const auto& in) { return pool(in[0], kind).y; }, {normal({2, 5, 3})});
  }
}

}  // namespace
}  // namespace edelta::ops
