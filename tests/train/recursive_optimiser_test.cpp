#include "edelta/train/recursive_optimiser.h"

#include <gtest/gtest.h>

#include "edelta/base/safetensors.h"
#include "golden.h"

namespace edelta::train {
namespace {

using torch::Tensor;

TEST(RecursiveOptimiser, LearningRateRisesThenFallsToItsShare) {
  RecursiveProtocol protocol;
  protocol.lr_warmup_steps = 4;
  protocol.total_steps = 12;
  protocol.lr_min_ratio = 0.5;
  EXPECT_DOUBLE_EQ(learning_rate(protocol, 2, 1), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate(protocol, 2, 4), 2);
  EXPECT_DOUBLE_EQ(learning_rate(protocol, 2, 8), 1.5);
  EXPECT_DOUBLE_EQ(learning_rate(protocol, 2, 12), 1);
  const auto path = test::golden_file("trm/ops.safetensors");
  if (!path) return;
  const Tensor table = base::read_safetensors(*path).tensor("lr/table");
  protocol.lr_warmup_steps = 5;
  protocol.total_steps = 20;
  for (int64_t i = 0; i < table.size(0); ++i) {
    const auto step = table[i][0].item<int64_t>();
    protocol.lr_min_ratio = 0.1;
    EXPECT_NEAR(learning_rate(protocol, 1e-4, step), table[i][1].item<double>(), 1e-16);
    protocol.lr_min_ratio = 1;
    EXPECT_NEAR(learning_rate(protocol, 1e-4, step), table[i][2].item<double>(), 1e-16);
  }
}

// Only the rows of puzzles that were seen move, by the sign of the sum over their views.
TEST(RecursiveOptimiser, PuzzlesMoveByTheSignOfTheirSum) {
  models::RecursiveConfig config;
  config.seq_len = 2, config.vocab_size = 3, config.hidden_size = 4, config.num_heads = 1;
  config.puzzle_emb_ndim = 2, config.puzzle_emb_len = 1, config.num_puzzle_identifiers = 4;
  models::RecursiveModel model(config, 1);
  RecursiveProtocol protocol;
  protocol.lr_warmup_steps = 0;
  protocol.puzzle_emb_lr = 0.5;
  protocol.puzzle_emb_weight_decay = 0.2;
  RecursiveOptimiser optimiser(model, protocol);
  model.puzzle_table().fill_(10);
  models::PuzzleOutput output;
  output.puzzle_rows = torch::zeros({3, 2}).requires_grad_();
  output.puzzle_rows.mutable_grad() = torch::tensor({{1.0F, -2.0F}, {-3.0F, 1.0F}, {0.0F, 5.0F}});
  optimiser.step(output, torch::tensor({2, 2, 0}));
  const Tensor expected =
      torch::tensor({{9.0F, 8.5F}, {10.0F, 10.0F}, {9.5F, 9.5F}, {10.0F, 10.0F}});
  EXPECT_TRUE(torch::allclose(model.puzzle_table(), expected)) << model.puzzle_table();
}

}  // namespace
}  // namespace edelta::train
