#include "edelta/probes/baselines.h"

#include <gtest/gtest.h>
#include "edelta/torch.h"

#include <map>

#include "edelta/base/error.h"
#include "expect_error.h"

namespace edelta::probes {
namespace {

using torch::Tensor;

std::map<std::string, double> by_name(const std::vector<Baseline>& baselines) {
  std::map<std::string, double> losses;
  for (const Baseline& each : baselines) losses[each.name] = each.loss;
  return losses;
}

Tensor noise(std::initializer_list<int64_t> shape) { return torch::randn(shape, torch::kFloat64); }

// x and y of both splits by a rule.
template <class Rule>
data::Dataset dataset(int64_t sequences, int64_t steps, int64_t dim, const Rule& rule) {
  data::Dataset made;
  for (const auto& [x, y] :
       {std::pair(&made.train_x, &made.train_y), std::pair(&made.val_x, &made.val_y)}) {
    const Tensor inputs = noise({sequences, steps, dim}).to(torch::kFloat32);
    *x = inputs;
    *y = rule(inputs.to(torch::kFloat64)).to(torch::kFloat32);
  }
  return made;
}

double rounding(const data::Dataset& data) {
  return 1e-12 * data.val_y.to(torch::kFloat64).square().mean().item<double>();
}

TEST(Baselines, AreTheirDefinitions) {
  torch::manual_seed(1);
  const data::Dataset data = dataset(5, 7, 3, [](const Tensor& x) { return 2 * x + 1; });
  const auto losses = by_name(measure_baselines(data));
  const Tensor x = data.val_x.to(torch::kFloat64), y = data.val_y.to(torch::kFloat64);
  double again = 0, mean = 0;
  for (int64_t i = 0; i < 5; ++i) {
    Tensor sum = torch::zeros(3, torch::kFloat64);
    for (int64_t t = 0; t < 7; ++t) {
      sum += x[i][t];
      again += (x[i][t] - y[i][t]).square().sum().item<double>() / (5 * 7 * 3);
      mean += (sum / (t + 1) - y[i][t]).square().sum().item<double>() / (5 * 7 * 3);
    }
  }
  EXPECT_NEAR(losses.at("zero"), y.square().mean().item<double>(), 1e-12);
  EXPECT_NEAR(losses.at("the input again"), again, 1e-12);
  EXPECT_NEAR(losses.at("mean of the inputs so far"), mean, 1e-12);
}

TEST(Baselines, FindTheMatrixOfALinearTask) {
  torch::manual_seed(2);
  const Tensor map = noise({4, 4});
  // More sequences than are taken at once.
  const data::Dataset data = dataset(600, 3, 4, [&](const Tensor& x) { return x.matmul(map); });
  const auto losses = by_name(measure_baselines(data));
  EXPECT_LT(losses.at("linear map of the input"), rounding(data));
  EXPECT_LT(losses.at("linear map of the last two inputs"), rounding(data));
}

TEST(Baselines, TheSecondMapSeesThePositionBefore) {
  torch::manual_seed(3);
  const data::Dataset data = dataset(40, 6, 2, [](const Tensor& x) {
    Tensor before = torch::zeros_like(x);
    before.slice(1, 1).copy_(x.slice(1, 0, -1));
    return x - 3 * before;
  });
  const auto losses = by_name(measure_baselines(data));
  EXPECT_GT(losses.at("linear map of the input"), 1);
  EXPECT_LT(losses.at("linear map of the last two inputs"), rounding(data));
}

TEST(Baselines, TakeSinglePositionsAndInputsThatDoNotSpanTheirSpace) {
  torch::manual_seed(4);
  data::Dataset data = dataset(20, 1, 3, [](const Tensor& x) { return -x; });
  EXPECT_LT(by_name(measure_baselines(data)).at("linear map of the input"), rounding(data));
  for (Tensor* each : {&data.train_x, &data.val_x, &data.train_y, &data.val_y}) {
    each->select(-1, 2).zero_();
  }
  const auto losses = by_name(measure_baselines(data));
  EXPECT_LT(losses.at("linear map of the input"), rounding(data));
  EXPECT_LT(losses.at("linear map of the last two inputs"), rounding(data));
}

// What the paper's tasks are: a rotation that is the same for all sequences is one matrix, and a
// noisy constant is predicted by its mean to 1 + 1/t times the noise's variance.
TEST(Baselines, SolveTwoOfThePapersTasks) {
  data::TaskOptions task = data::default_task_options("near-pi-multi");
  task.dim = 8;
  task.steps = 16;
  EXPECT_LT(by_name(measure_baselines(data::generate(task))).at("linear map of the input"), 1e-14);

  const auto stability =
      by_name(measure_baselines(data::generate(data::default_task_options("stability"))));
  double floor = 0;
  for (int64_t t = 1; t <= 127; ++t) floor += 1e-6 * (1 + 1.0 / static_cast<double>(t)) / 127;
  EXPECT_NEAR(stability.at("mean of the inputs so far"), floor, 0.01 * floor);
  EXPECT_NEAR(stability.at("the input again"), 2e-6, 2e-8);
}

TEST(Baselines, AreReadAsTheyAreWritten) {
  const std::vector<Baseline> written{{"zero", 0.5}, {"the input again", 1e-300}};
  EXPECT_EQ(by_name(baselines_from_json(to_json(written), "here")), by_name(written));
  test::expect_error<InputError>(
      [] { baselines_from_json({{"baselines", {{{"name", "zero"}}}}}, "here"); }, "loss");
}

}  // namespace
}  // namespace edelta::probes
