#include "edelta/train/gradient_exchange.h"

#include <gtest/gtest.h>

#include "dist/rank_threads.h"
#include "edelta/train/step.h"
#include "expect_error.h"

namespace edelta::train {
namespace {

using test::on_ranks;
using torch::Tensor;

constexpr int64_t kRows = 4, kLength = 5;

models::ModelConfig dropping(const std::string& model) {
  models::ModelConfig config;
  config.model = model;
  config.n_layer = 2;
  config.n_embd = 16;
  config.n_head = 2;
  config.block_size = 8;
  config.input_dim = 3;
  config.dropout = 0.2;
  return config;
}

// A whole batch of a part, with its own dropout.
models::Batch batch_of(int64_t part) {
  at::Generator generator = at::detail::createCPUGenerator(static_cast<uint64_t>(part) + 7);
  models::Batch batch{torch::randn({kRows, kLength, 3}, generator),
                      torch::randn({kRows, kLength, 3}, generator)};
  batch.dropout_key = static_cast<uint64_t>(part) + 100;
  return batch;
}

struct Outcome {
  StepOutcome step;
  std::vector<Tensor> gradients;
};

Outcome divided_step(const std::string& name, int64_t parts, dist::Ranks& ranks,
                     Summation summation) {
  const auto model = models::make_model(dropping(name));
  AdamW optimiser(*model, Protocol());
  GradientExchange exchange(*model, ranks, summation);
  models::State state;
  Outcome outcome{
      compute_gradients(
          *model, optimiser, state, batch_of,
          {.parts = parts, .minimises = {}, .after = {}, .gives_up = {}, .exchange = &exchange}),
      {}};
  for (const Tensor& parameter : model->parameters()) {
    outcome.gradients.push_back(parameter.grad().clone());
  }
  return outcome;
}

void expect_close(const Outcome& found, const Outcome& expected) {
  EXPECT_NEAR(found.step.total(), expected.step.total(), 1e-6 * expected.step.total());
  EXPECT_NEAR(found.step.gradient_norm, expected.step.gradient_norm,
              1e-5 * expected.step.gradient_norm);
  const std::vector<double> gammas = found.step.gammas(), wanted = expected.step.gammas();
  ASSERT_EQ(gammas.size(), wanted.size());
  for (size_t i = 0; i < gammas.size(); ++i) EXPECT_NEAR(gammas[i], wanted[i], 1e-6);
  for (size_t i = 0; i < found.gradients.size(); ++i) {
    const double apart = (found.gradients[i] - expected.gradients[i]).norm().item<double>();
    EXPECT_LE(apart, 1e-4 * expected.gradients[i].norm().item<double>() + 1e-5) << i;
  }
}

void expect_same_bits(const Outcome& found, const Outcome& expected) {
  EXPECT_EQ(found.step.losses, expected.step.losses);
  EXPECT_EQ(found.step.gradient_norm, expected.step.gradient_norm);
  EXPECT_EQ(found.step.gammas(), expected.step.gammas());
  for (size_t i = 0; i < found.gradients.size(); ++i) {
    EXPECT_TRUE(torch::equal(found.gradients[i], expected.gradients[i])) << i;
  }
}

// With dropout: the rows of a batch keep their masks wherever they are computed.
TEST(GradientExchange, RanksDivideTheRowsOfABatch) {
  for (const std::string name : {"edelta", "gpt", "mhc"}) {
    const Outcome expected = divided_step(name, 1, dist::alone(), Summation::running);
    for (const int64_t count : {2, 4}) {
      on_ranks(count, [&](dist::Ranks& ranks) {
        expect_close(divided_step(name, 1, ranks, Summation::running), expected);
      });
    }
  }
}

TEST(GradientExchange, RanksDivideThePartsOfAStep) {
  const Outcome expected = divided_step("edelta", 4, dist::alone(), Summation::running);
  on_ranks(2, [&](dist::Ranks& ranks) {
    expect_close(divided_step("edelta", 4, ranks, Summation::running), expected);
  });
  const Outcome three = divided_step("edelta", 3, dist::alone(), Summation::running);
  on_ranks(2, [&](dist::Ranks& ranks) {
    expect_close(divided_step("edelta", 3, ranks, Summation::running), three);
  });
}

TEST(GradientExchange, ATreeHasTheSameBitsForAnyNumberOfRanks) {
  const Outcome expected = divided_step("edelta", 8, dist::alone(), Summation::tree);
  expect_close(expected, divided_step("edelta", 8, dist::alone(), Summation::running));
  for (const int64_t count : {2, 4, 8}) {
    on_ranks(count, [&](dist::Ranks& ranks) {
      expect_same_bits(divided_step("edelta", 8, ranks, Summation::tree), expected);
    });
  }
}

TEST(GradientExchange, NamesWhatCannotBeDivided) {
  require_divisible(64, 1, 4, Summation::running);
  require_divisible(12, 40, 8, Summation::running);
  test::expect_error<InputError>([] { require_divisible(10, 3, 4, Summation::running); },
                                 "batch is 10 and accumulate 3", "4 ranks");
  require_divisible(10, 8, 4, Summation::tree);
  test::expect_error<InputError>([] { require_divisible(64, 6, 2, Summation::tree); },
                                 "accumulate is 6");
  test::expect_error<InputError>([] { require_divisible(64, 2, 4, Summation::tree); }, "4 ranks");
  const TrainConfig puzzles = train_config_from_json({{"preset", "sudoku4"}}, "test");
  require_divisible(puzzles, 1, Summation::tree);
  test::expect_error<InputError>([&] { require_divisible(puzzles, 2, Summation::tree); },
                                 "not for recursive models");
}

}  // namespace
}  // namespace edelta::train
