#include "edelta/train/evaluate.h"

#include <gtest/gtest.h>

namespace edelta::train {
namespace {

using torch::Tensor;

// Predicts zero.
class Zero : public models::Model {
 public:
  Zero() : Model({}) {}
  models::Output forward(const models::Batch& batch, models::State&, models::Seen seen) override {
    return {torch::zeros_like(batch.input), {}, std::move(seen)};
  }
  double step_gflop(int64_t, int64_t) const override { return 0; }
};

// The loss of position t of row r is (10 r + t)².
TEST(Evaluate, AveragesOverRowsAndOverPositions) {
  const Tensor rows = 10 * torch::arange(5, torch::kFloat).view({5, 1, 1});
  const Tensor y = (rows + torch::arange(4, torch::kFloat).view({1, 4, 1})).expand({5, 4, 2});
  Zero model;
  const Evaluation evaluation =
      evaluate(model, torch::zeros_like(y), y,
               {{"whole", {1, 3}}, {"parts", {0, 2}, {{1, 3}, {0, 1}}}, {"one", {4}, {{3, 4}}}},
               /*batch=*/2);
  EXPECT_NEAR(evaluation.loss, y.square().mean().item<double>(), 1e-9);
  EXPECT_NEAR(evaluation.strata.at("whole"),
              y.index_select(0, torch::tensor({1, 3})).square().mean().item<double>(), 1e-9);
  EXPECT_NEAR(evaluation.strata.at("parts"), (1.0 + 4 + 400) / 3, 1e-9);
  EXPECT_NEAR(evaluation.strata.at("one"), 43.0 * 43, 1e-9);
}

}  // namespace
}  // namespace edelta::train
