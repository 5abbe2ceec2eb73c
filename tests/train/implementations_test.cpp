// Training with the fused and with the composite ops gives the same curve.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "edelta/models/registry.h"
#include "edelta/ops/implementation.h"
#include "edelta/train/trainer.h"
#include "temporary_folder.h"

namespace edelta::train {
namespace {

std::vector<double> losses(const std::string& model, double dropout, size_t steps,
                           ops::Implementation implementation) {
  const test::TemporaryFolder folder;
  const RunFolder run(folder.path() / "run");
  run.create(train_config_from_json(
      {{"task", {{"task", "gyroscope"}, {"dim", 8}, {"steps", 17}, {"train", 64}, {"val", 8}}},
       {"model", {{"model", model}, {"n_layer", 2}, {"n_embd", 32}, {"dropout", dropout}}},
       {"train",
        {{"iterations", steps},
         {"batch", 8},
         {"warmup", 20},
         {"log_interval", 1},
         {"eval_interval", steps}}}},
      "test"));
  const ops::Implementation before = ops::implementation();
  ops::set_implementation(implementation);
  train(run);
  ops::set_implementation(before);
  std::vector<double> curve;
  for (const auto& entry : run.read_metrics()) {
    if (entry.contains("train_loss")) curve.push_back(entry["train_loss"].get<double>());
  }
  return curve;
}

class Implementations : public testing::TestWithParam<std::string> {};

std::vector<double> expect_same_curve(const std::string& model, double dropout, size_t steps) {
  const std::vector<double> fused = losses(model, dropout, steps, ops::Implementation::fused);
  const std::vector<double> composite =
      losses(model, dropout, steps, ops::Implementation::composite);
  EXPECT_EQ(fused.size(), steps);
  EXPECT_EQ(composite.size(), fused.size());
  bool identical = true;
  for (size_t i = 0; i < std::min(fused.size(), composite.size()); ++i) {
    EXPECT_LT(std::abs(fused[i] - composite[i]), 1e-3 * composite[i]) << "step " << i + 1;
    identical = identical && fused[i] == composite[i];
  }
  const bool has_kernels = ops::use_fused({});
  EXPECT_EQ(identical && has_kernels, false) << "both runs took the same path";
  return fused;
}

TEST_P(Implementations, GiveTheSameCurve) {
  const std::vector<double> curve = expect_same_curve(GetParam(), 0, 120);
  EXPECT_LT(curve.back(), 0.5 * curve.front()) << "nothing was learned";
}

// Both draw the same masks.
TEST_P(Implementations, GiveTheSameCurveWithDropout) { expect_same_curve(GetParam(), 0.2, 60); }

INSTANTIATE_TEST_SUITE_P(Models, Implementations,
                         testing::Values("gpt", "ddl", "mhc", "jpmhc", "edelta", "edelta-stream"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace edelta::train
