// The masks: their probability, and that neighbours in every direction know nothing of each other.
#include "edelta/ops/dropout.h"

#include <gtest/gtest.h>

#include <cmath>

namespace edelta::ops {
namespace {

using torch::Tensor;

constexpr int64_t kPlanes = 4, kRows = 512, kColumns = 509;

Tensor mask(const Dropout& dropout, int64_t planes = kPlanes) {
  return dropout_factors(dropout, planes, kRows, kColumns, torch::kFloat64);
}

// How many standard deviations the mean of `samples` independent numbers of variance `variance` is
// off.
double deviations(double mean, double expected, double variance, int64_t samples) {
  return std::abs(mean - expected) / std::sqrt(variance / static_cast<double>(samples));
}
constexpr double kMostDeviations = 5;

TEST(Dropout, KeepsAsManyAsItShallAndTheMean) {
  for (const double probability : {0.001, 0.1, 0.2, 0.5, 0.9}) {
    const Tensor factors = mask({.probability = probability, .key = 11});
    const double kept = (factors > 0).to(torch::kFloat64).mean().item<double>();
    EXPECT_LT(deviations(kept, 1 - probability, probability * (1 - probability), factors.numel()),
              kMostDeviations)
        << probability;
    const double scale = factors.max().item<double>();
    EXPECT_NEAR(scale, 1 / (1 - probability), 2e-4 * scale) << "a multiple of 2⁻¹⁶";
    EXPECT_TRUE(((factors == 0) | (factors == scale)).all().item<bool>());
  }
}

// The mean of products of two masks, centred: their covariance.
void expect_independent(const Tensor& a, const Tensor& b, double probability, const char* what) {
  const double scale = 1 / (1 - probability);
  const double covariance = ((a - 1) * (b - 1)).mean().item<double>();
  const double variance = scale - 1;
  EXPECT_LT(deviations(covariance, 0, variance * variance, a.numel()), kMostDeviations) << what;
}

TEST(Dropout, NeighboursAreIndependent) {
  for (const double probability : {0.2, 0.5}) {
    const Tensor factors = mask({.probability = probability, .key = 12, .site = 3});
    const auto shifted = [&](int64_t dimension, int64_t by, const char* what) {
      const int64_t size = factors.size(dimension) - by;
      expect_independent(factors.narrow(dimension, 0, size), factors.narrow(dimension, by, size),
                         probability, what);
    };
    for (const int64_t by : {1, 2, 3, 4, 7, 8, 9, 16, 64}) {
      shifted(1, by, "rows");
      shifted(2, by, "columns");
    }
    shifted(0, 1, "planes");
  }
}

TEST(Dropout, KeysAndSitesAreIndependent) {
  const double probability = 0.3;
  const Tensor factors = mask({.probability = probability, .key = 12, .site = 3});
  for (const uint64_t key : {uint64_t{13}, uint64_t{12} << 32, uint64_t{12} | uint64_t{1} << 63}) {
    expect_independent(factors, mask({.probability = probability, .key = key, .site = 3}),
                       probability, "keys");
  }
  for (const uint32_t site : {0U, 2U, 4U}) {
    expect_independent(factors, mask({.probability = probability, .key = 12, .site = site}),
                       probability, "sites");
  }
}

// Sums over whole rows and columns vary as sums of independent numbers do.
TEST(Dropout, RowsAndColumnsVaryAsTheyShall) {
  const Tensor factors = mask({.probability = 0.2, .key = 14}, 1)[0];
  const double variance = 1 / 0.8 - 1;
  for (const int64_t dimension : {0, 1}) {
    const auto summed = static_cast<double>(factors.size(dimension));
    const Tensor sums = factors.sum(dimension);
    const double found = (sums - summed).square().mean().item<double>() / (summed * variance);
    const double deviation = std::sqrt(2.0 / static_cast<double>(sums.numel()));
    EXPECT_NEAR(found, 1, kMostDeviations * deviation) << dimension;
  }
}

TEST(Dropout, IsAFunctionOfTheAddressAlone) {
  const Dropout dropout{.probability = 0.4, .key = 15, .site = 1};
  const Tensor large = dropout_factors(dropout, 3, 40, 50, torch::kFloat32);
  const Tensor small = dropout_factors(dropout, 2, 7, 13, torch::kFloat32);
  EXPECT_TRUE(torch::equal(large.narrow(0, 0, 2).narrow(1, 0, 7).narrow(2, 0, 13), small));
}

TEST(Dropout, NoneAtProbabilityZero) {
  const Tensor x = torch::randn({3, 5});
  EXPECT_TRUE(drop(x, {}).is_same(x));
  EXPECT_TRUE((dropout_factors({}, 1, 3, 5, torch::kFloat32) == 1).all().item<bool>());
}

// What earlier runs were trained with: other masks would change every run with dropout.
TEST(Dropout, MasksAreThoseOfEarlierVersions) {
  const Tensor kept =
      dropout_factors({.probability = 0.5, .key = 16, .site = 2}, 1, 2, 16, torch::kFloat32)[0] > 0;
  std::string found;
  for (int64_t i = 0; i < kept.numel(); ++i) found += kept.view(-1)[i].item<bool>() ? '1' : '0';
  EXPECT_EQ(found, "11100000001011111010001000101101");
}

}  // namespace
}  // namespace edelta::ops
