// Properties of the tasks, each checked on the data alone.
#include <gtest/gtest.h>

#include <cmath>

#include "edelta/data/dataset.h"

namespace edelta::data {
namespace {

TaskOptions small(const std::string& task) {
  TaskOptions options = default_task_options(task);
  options.train = 50;
  options.val = 300;
  options.steps = std::min<std::int64_t>(options.steps, 20);
  return options;
}

torch::Tensor to_double(const torch::Tensor& tensor) { return tensor.to(torch::kDouble); }

double largest(const torch::Tensor& tensor) { return tensor.abs().max().item<double>(); }

// The plane of one trajectory, from the coordinates that move, and its angle.
struct Turn {
  std::int64_t i, j;
  double theta;
};

Turn find_turn(const torch::Tensor& x, const torch::Tensor& y) {
  const torch::Tensor moving = torch::nonzero((x != y).any(0)).flatten();
  EXPECT_EQ(moving.numel(), 2);
  const auto i = moving[0].item<std::int64_t>(), j = moving[1].item<std::int64_t>();
  const auto at = [](const torch::Tensor& v, std::int64_t c) { return v[0][c].item<double>(); };
  const double from = std::atan2(at(x, j), at(x, i)), to = std::atan2(at(y, j), at(y, i));
  return {i, j, std::remainder(to - from, 2 * M_PI)};
}

std::vector<Turn> find_turns(const torch::Tensor& x, const torch::Tensor& y) {
  std::vector<Turn> turns;
  for (std::int64_t row = 0; row < x.size(0); ++row) turns.push_back(find_turn(x[row], y[row]));
  return turns;
}

class EveryTask : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Generate, EveryTask,
                         testing::Values("gyroscope", "stability", "near-pi", "near-pi-multi",
                                         "negation", "reversal"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(EveryTask, HasTheShapesOfItsOptions) {
  const TaskOptions options = small(GetParam());
  const Dataset data = generate(options);
  const std::vector<std::int64_t> train{options.train, options.steps, options.dim};
  const std::vector<std::int64_t> val{options.val, options.steps, options.dim};
  for (const auto& tensor : {data.train_x, data.train_y}) EXPECT_EQ(tensor.sizes(), train);
  for (const auto& tensor : {data.val_x, data.val_y}) EXPECT_EQ(tensor.sizes(), val);
  for (const auto& tensor : {data.train_x, data.train_y, data.val_x, data.val_y}) {
    EXPECT_EQ(tensor.scalar_type(), torch::kFloat);
  }
}

TEST_P(EveryTask, YIsTheNextPosition) {
  const TaskOptions options = small(GetParam());
  const Dataset data = generate(options);
  const std::int64_t steps = options.steps, predicted = options.dim - (has_cue(options) ? 1 : 0);
  const torch::Tensor x = data.val_x.slice(2, 0, predicted), y = data.val_y.slice(2, 0, predicted);
  EXPECT_TRUE(y.slice(1, 0, steps - 1).equal(x.slice(1, 1, steps)));
  EXPECT_FALSE(y.equal(x));
}

TEST_P(EveryTask, DependsOnTheSeedAndNothingElse) {
  TaskOptions options = small(GetParam());
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const Dataset one = generate(options);
  at::set_num_threads(4);
  const Dataset four = generate(options);
  at::set_num_threads(threads);
  EXPECT_TRUE(one.train_x.equal(four.train_x));
  EXPECT_TRUE(one.val_y.equal(four.val_y));
  EXPECT_FALSE(one.train_x.equal(one.val_x.slice(0, 0, options.train)));
  options.seed = 43;
  EXPECT_FALSE(generate(options).train_x.equal(one.train_x));
}

TEST_P(EveryTask, SizesDoNotShiftOneAnother) {
  TaskOptions options = small(GetParam());
  const Dataset before = generate(options);
  options.train += 7;
  options.val -= 100;
  const Dataset after = generate(options);
  EXPECT_TRUE(after.train_x.slice(0, 0, 50).equal(before.train_x));
  EXPECT_TRUE(after.val_y.equal(before.val_y.slice(0, 0, 200)));
}

// The one position of each row whose cue is not 0.
std::vector<std::int64_t> find_flips(const torch::Tensor& x) {
  const torch::Tensor cues = torch::nonzero(x.select(2, -1));
  EXPECT_EQ(cues.size(0), x.size(0));
  std::vector<std::int64_t> flips;
  for (std::int64_t row = 0; row < cues.size(0); ++row) {
    EXPECT_EQ(cues[row][0].item<std::int64_t>(), row);
    flips.push_back(cues[row][1].item<std::int64_t>());
  }
  return flips;
}

// The rule before the cue is read off the first step; what S is after it follows from the cue. The
// direction of the reflections is read off one of them, and is that of all others, training too.
TEST(Generate, ReversalChangesItsRuleAtTheCue) {
  const TaskOptions options = small("reversal");
  const Dataset data = generate(options);
  const std::int64_t state = options.dim - 1;
  EXPECT_EQ(largest(data.val_y.select(2, state)), 0);
  torch::Tensor k;
  for (const auto& [all_x, all_y] :
       {std::pair(data.val_x, data.val_y), std::pair(data.train_x, data.train_y)}) {
    const std::vector<std::int64_t> flips = find_flips(all_x);
    for (std::int64_t row = 0; row < all_x.size(0); ++row) {
      const std::int64_t flip = flips[static_cast<std::size_t>(row)];
      const torch::Tensor x = all_x[row].slice(1, 0, state), y = all_y[row].slice(1, 0, state);
      const Turn turn = find_turn(x.slice(0, 0, flip), y.slice(0, 0, flip));
      ASSERT_GT(turn.theta, 0.1 - 1e-3);
      ASSERT_LT(turn.theta, 2.5 + 1e-3);
      torch::Tensor rotation = torch::eye(state, torch::kDouble);
      rotation[turn.i][turn.i] = rotation[turn.j][turn.j] = std::cos(turn.theta);
      rotation[turn.i][turn.j] = -std::sin(turn.theta);
      rotation[turn.j][turn.i] = std::sin(turn.theta);
      const torch::Tensor turned = torch::matmul(to_double(x), rotation.t());
      const torch::Tensor before = turned.slice(0, 0, flip), after = turned.slice(0, flip);
      const torch::Tensor y_after = to_double(y).slice(0, flip);
      ASSERT_LT(largest(before - to_double(y).slice(0, 0, flip)), 1e-4) << row;
      if (all_x[row][flip][state].item<float>() == 1) {
        ASSERT_LT(largest(after + y_after), 1e-4) << row;
        continue;
      }
      ASSERT_EQ(all_x[row][flip][state].item<float>(), -1);
      const torch::Tensor moved = (after - y_after)[0];  // 2 (k·v) k
      if (!k.defined()) k = moved / moved.norm();
      ASSERT_LT(largest(after - 2 * after.matmul(k).unsqueeze(1) * k - y_after), 1e-3) << row;
    }
  }
  TaskOptions other = options;
  other.seed = 43;
  const Dataset elsewhere = generate(other);
  EXPECT_FALSE(elsewhere.val_x.equal(data.val_x));
}

TEST(Generate, ReversalFlipsAtRandomMomentsInBothWays) {
  TaskOptions options = small("reversal");
  options.val = 4000;
  const Dataset data = generate(options);
  std::vector<int> counts(20);
  for (const std::int64_t flip : find_flips(data.val_x)) ++counts[static_cast<std::size_t>(flip)];
  for (int t = 0; t < 20; ++t) {  // uniform over 5 … 15
    EXPECT_NEAR(counts[static_cast<std::size_t>(t)], t >= 5 && t <= 15 ? 4000 / 11 : 0,
                t >= 5 && t <= 15 ? 80 : 0)
        << t;
  }
  EXPECT_NEAR(data.val_x.select(2, -1).sum().item<double>(), 0, 250);
}

TEST(Generate, ReversalStrataAreTheKindsAndTheMoments) {
  const TaskOptions options = small("reversal");
  const Dataset data = generate(options);
  const std::vector<std::int64_t> flips = find_flips(data.val_x);
  std::vector<std::int64_t> sign, reflection, rows;
  std::vector<Positions> before, at, after;
  for (std::size_t i = 0; i < flips.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    const std::int64_t flip = flips[i];
    rows.push_back(row);
    (data.val_x[row][flip][-1].item<float>() > 0 ? sign : reflection).push_back(row);
    before.push_back({0, flip});
    at.push_back({flip, flip + 1});
    after.push_back({flip + 1, options.steps});
  }
  ASSERT_EQ(data.val_strata.size(), 5u);
  const auto expect_stratum = [&](std::size_t i, const std::string& name, const auto& expected_rows,
                                  const std::vector<Positions>& positions) {
    EXPECT_EQ(data.val_strata[i].name, name);
    EXPECT_EQ(data.val_strata[i].rows, expected_rows) << name;
    EXPECT_EQ(data.val_strata[i].positions, positions) << name;
  };
  expect_stratum(0, "sign", sign, {});
  expect_stratum(1, "reflection", reflection, {});
  expect_stratum(2, "before", rows, before);
  expect_stratum(3, "at the flip", rows, at);
  expect_stratum(4, "after", rows, after);
  TaskOptions shortest = options;
  shortest.steps = 1;
  for (const Stratum& stratum : generate(shortest).val_strata) {
    EXPECT_NE(stratum.name, "before");
    EXPECT_NE(stratum.name, "after");
  }
}

TEST(Generate, GyroscopeTurnsOnePlaneOfUnitVectors) {
  const Dataset data = generate(small("gyroscope"));
  EXPECT_LT(largest(to_double(data.val_x).norm(2, 2) - 1), 1e-6);
  for (std::int64_t row = 0; row < data.val_x.size(0); ++row) {
    const torch::Tensor x = to_double(data.val_x[row]), y = to_double(data.val_y[row]);
    const Turn turn = find_turn(data.val_x[row], data.val_y[row]);
    ASSERT_GT(turn.theta, 0.1 - 1e-4);
    ASSERT_LT(turn.theta, 2.5 + 1e-4);
    torch::Tensor rotation = torch::eye(16, torch::kDouble);
    rotation[turn.i][turn.i] = rotation[turn.j][turn.j] = std::cos(turn.theta);
    rotation[turn.i][turn.j] = -std::sin(turn.theta);
    rotation[turn.j][turn.i] = std::sin(turn.theta);
    // The angle was found from float32 coordinates, which may be small.
    ASSERT_LT(largest(torch::matmul(x, rotation.t()) - y), 2e-5) << row;
  }
}

TEST(Generate, GyroscopeDrawsAnglesAndPlanesUniformly) {
  TaskOptions options = small("gyroscope");
  options.dim = 4;
  options.steps = 1;
  options.val = 6000;
  const Dataset data = generate(options);
  double sum = 0, squares = 0;
  int planes[4][4] = {};
  for (const Turn& turn : find_turns(data.val_x, data.val_y)) {
    sum += turn.theta;
    squares += turn.theta * turn.theta;
    ++planes[turn.i][turn.j];
  }
  const double mean = sum / 6000;
  EXPECT_NEAR(mean, 1.3, 0.04);
  EXPECT_NEAR(squares / 6000 - mean * mean, 2.4 * 2.4 / 12, 0.03);
  for (int i = 0; i < 3; ++i) {  // i uniform in [0, 3), then j uniform in (i, 4)
    for (int j = i + 1; j < 4; ++j) EXPECT_NEAR(planes[i][j], 2000 / (3 - i), 150);
  }
}

TEST(Generate, GyroscopeStrataAreTheSlowAndTheFast) {
  const Dataset data = generate(small("gyroscope"));
  ASSERT_EQ(data.val_strata.size(), 2u);
  EXPECT_EQ(data.val_strata[0].name, "slow");
  EXPECT_EQ(data.val_strata[1].name, "fast");
  std::vector<std::int64_t> slow, fast;
  const std::vector<Turn> turns = find_turns(data.val_x, data.val_y);
  for (std::size_t row = 0; row < turns.size(); ++row) {
    if (turns[row].theta < 0.5) slow.push_back(static_cast<std::int64_t>(row));
    if (turns[row].theta > 1.5) fast.push_back(static_cast<std::int64_t>(row));
  }
  EXPECT_EQ(data.val_strata[0].rows, slow);
  EXPECT_EQ(data.val_strata[1].rows, fast);
  TaskOptions options = small("gyroscope");
  options.theta_max = 0.4;
  EXPECT_EQ(generate(options).val_strata.size(), 1u);
  EXPECT_TRUE(generate(small("near-pi")).val_strata.empty());
}

TEST(Generate, StabilityIsAKeyPlusFreshNoise) {
  TaskOptions options = small("stability");
  options.steps = 127;
  const Dataset data = generate(options);
  const torch::Tensor x = to_double(data.val_x);
  const torch::Tensor key = x.mean(1, true);
  EXPECT_LT(largest(key.norm(2, 2) - 1), 1e-3);
  const torch::Tensor noise = (x - key) / std::sqrt(126.0 / 127.0);
  EXPECT_NEAR(noise.square().mean().item<double>(), 1e-6, 1e-8);
  // Drawn anew: neighbours do not correlate (removing the mean leaves −1/127).
  const double neighbours = (noise.slice(1, 0, 126) * noise.slice(1, 1, 127)).mean().item<double>();
  EXPECT_LT(std::abs(neighbours), 2e-8);
  options.noise = 0;
  const Dataset still = generate(options);
  EXPECT_TRUE(still.val_x.equal(still.val_y));
}

TEST(Generate, NearPiTurnsTheFirstPlane) {
  const Dataset data = generate(small("near-pi"));
  EXPECT_LT(largest(to_double(data.val_x).norm(2, 2) - 1), 1e-6);
  EXPECT_TRUE(data.val_x.slice(2, 2).equal(data.val_y.slice(2, 2)));
  const torch::Tensor x = to_double(data.val_x), y = to_double(data.val_y);
  const torch::Tensor x0 = x.select(2, 0), x1 = x.select(2, 1);
  EXPECT_LT(largest(std::cos(3.10) * x0 - std::sin(3.10) * x1 - y.select(2, 0)), 2e-7);
  EXPECT_LT(largest(std::sin(3.10) * x0 + std::cos(3.10) * x1 - y.select(2, 1)), 2e-7);
}

TEST(Generate, NearPiMultiTurnsEveryPlane) {
  const Dataset data = generate(small("near-pi-multi"));
  EXPECT_LT(largest(to_double(data.val_x).norm(2, 2) - 1), 1e-6);
  const torch::Tensor x = to_double(data.val_x).unflatten(2, {32, 2});
  const torch::Tensor y = to_double(data.val_y).unflatten(2, {32, 2});
  const torch::Tensor x0 = x.select(3, 0), x1 = x.select(3, 1);
  EXPECT_LT(largest(std::cos(3.14) * x0 - std::sin(3.14) * x1 - y.select(3, 0)), 2e-7);
  EXPECT_LT(largest(std::sin(3.14) * x0 + std::cos(3.14) * x1 - y.select(3, 1)), 2e-7);
}

TEST(Generate, NegationNegatesNormalVectors) {
  const Dataset data = generate(small("negation"));
  EXPECT_TRUE(data.val_y.equal(-data.val_x));
  EXPECT_NEAR(data.val_x.mean().item<double>(), 0, 0.03);
  EXPECT_NEAR(data.val_x.var().item<double>(), 1, 0.05);
}

TEST(Generate, StartsAreSpreadOverTheSphere) {
  TaskOptions options = small("near-pi");
  options.val = 4000;
  options.dim = 4;
  options.steps = 1;
  const torch::Tensor x = to_double(generate(options).val_x.select(1, 0));
  EXPECT_LT(largest(x.mean(0)), 0.04);
  EXPECT_LT(largest(torch::matmul(x.t(), x) / 4000 - torch::eye(4, torch::kDouble) / 4), 0.02);
}

std::uint64_t fingerprint(const torch::Tensor& tensor) {
  std::uint64_t hash = 14695981039346656037ull;  // FNV-1a
  const auto* bytes = static_cast<const unsigned char*>(tensor.data_ptr());
  for (std::size_t i = 0; i < tensor.nbytes(); ++i) hash = (hash ^ bytes[i]) * 1099511628211ull;
  return hash;
}

// The same bits on every machine. A change here changes every published number.
TEST(Generate, BitsAreThoseOfTheFirstRelease) {
  EXPECT_EQ(fingerprint(generate(small("gyroscope")).val_y), 6911706400078561871ull);
  EXPECT_EQ(fingerprint(generate(small("stability")).val_y), 15405597708735610183ull);
  EXPECT_EQ(fingerprint(generate(small("near-pi-multi")).val_y), 13483239345738240602ull);
  EXPECT_EQ(fingerprint(generate(small("negation")).val_y), 7752955325553988282ull);
}

TEST(Generate, ReversalHasTheSameBitsEverywhere) {
  EXPECT_EQ(fingerprint(generate(small("reversal")).val_y), 402334595933354185ull);
}

}  // namespace
}  // namespace edelta::data
