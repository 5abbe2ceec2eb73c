#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

#include "base/atomic_file.h"
#include "edelta/base/error.h"
#include "edelta/train/training_data.h"
#include "expect_error.h"
#include "temporary_folder.h"

namespace edelta::train {
namespace {

using test::expect_error;
using test::TemporaryFolder;
using torch::Tensor;

// Tokens 0, 1, 2, … (mod 1000), so that a token tells its place.
void write_tokens(const std::filesystem::path& path, int64_t count) {
  std::vector<uint16_t> tokens(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) tokens[i] = static_cast<uint16_t>(i % 1000);
  base::write_text_atomically(
      path, {reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(uint16_t)});
}

data::TokenDataset counting(const TemporaryFolder& folder, int64_t train, int64_t val) {
  write_tokens(folder.path() / "train.bin", train);
  write_tokens(folder.path() / "val.bin", val);
  return data::read_token_dataset(folder.path(), 1000);
}

// The loss of a target is the target itself; remembers what it was asked for.
class Listening : public models::Model {
 public:
  Listening() : Model({}) {}
  models::Output forward(const models::Batch& batch, models::State&, models::Seen seen) override {
    for (int64_t i = 0; i < batch.target.numel(); ++i) {
      targets.push_back(batch.target.flatten()[i].item<int64_t>());
    }
    lengths.insert(batch.input.size(1));
    EXPECT_FALSE(batch.wants_prediction);
    EXPECT_TRUE(torch::equal(batch.input + 1, batch.target));
    return {{}, {{"task", batch.target.to(torch::kFloat64).mean()}}, std::move(seen)};
  }
  double step_gflop(int64_t, int64_t) const override { return 0; }

  std::vector<int64_t> targets;
  std::set<int64_t> lengths;
};

TEST(TokenData, PredictsEveryTokenOfASplitOnce) {
  const TemporaryFolder folder;
  data::TokenDataset dataset = counting(folder, 100, 78);
  dataset.val_bytes = 100;
  const auto data = token_data(dataset, 7);
  Listening model;
  const Evaluation evaluation = data->evaluate(model, Split::val);
  std::vector<int64_t> all(77);
  for (int64_t i = 0; i < 77; ++i) all[i] = i + 1;
  EXPECT_EQ(model.targets, all);
  EXPECT_EQ(model.lengths, std::set<int64_t>{7});  // 77 is 11 windows
  EXPECT_NEAR(evaluation.loss, 39, 1e-12);
  EXPECT_NEAR(evaluation.measures.at("perplexity"), std::exp(39.0), 1e5);
  EXPECT_NEAR(evaluation.measures.at("bits_per_byte"), 39.0 * 78 / (std::numbers::ln2 * 100), 1e-9);
}

TEST(TokenData, TakesTheShortLastWindowAndSplitsShorterThanAWindow) {
  const TemporaryFolder folder;
  const auto data = token_data(counting(folder, 100, 20), 8);
  Listening model;
  EXPECT_NEAR(data->evaluate(model, Split::val).loss, 10, 1e-12);
  EXPECT_EQ(model.lengths, (std::set<int64_t>{3, 8}));
  Listening other;
  const auto longer = token_data(counting(folder, 100, 20), 50);
  EXPECT_NEAR(longer->evaluate(other, Split::val).loss, 10, 1e-12);
  EXPECT_EQ(other.lengths, std::set<int64_t>{19});
  EXPECT_FALSE(longer->evaluate(other, Split::val).measures.contains("bits_per_byte"));
}

TEST(TokenData, BatchesAreWindowsThatDependOnSeedIterationAndPartAlone) {
  const TemporaryFolder folder;
  const auto data = token_data(counting(folder, 500, 20), 16);
  Protocol protocol;
  protocol.batch = 8;
  protocol.accumulate = 2;
  const models::Batch batch = data->batch(protocol, 3, 1);
  EXPECT_EQ(batch.input.sizes(), (std::vector<int64_t>{8, 16}));
  EXPECT_TRUE(torch::equal(batch.target, batch.input + 1));
  EXPECT_TRUE(torch::equal(batch.input, data->batch(protocol, 3, 1).input));
  EXPECT_FALSE(torch::equal(batch.input, data->batch(protocol, 3, 0).input));
  EXPECT_FALSE(torch::equal(batch.input, data->batch(protocol, 4, 1).input));
  protocol.seed = 43;
  EXPECT_FALSE(torch::equal(batch.input, data->batch(protocol, 3, 1).input));
}

TEST(TokenData, WindowsBeginAtEveryPlace) {
  const TemporaryFolder folder;
  const auto data = token_data(counting(folder, 12, 20), 8);
  Protocol protocol;
  protocol.batch = 200;
  const Tensor first = data->batch(protocol, 0, 0).input.select(1, 0);
  // 12 tokens have 4 windows of 8 and the target of the last.
  EXPECT_EQ(first.min().item<int64_t>(), 0);
  EXPECT_EQ(first.max().item<int64_t>(), 3);
}

TEST(TokenData, FitsTheModelAndRefusesWhatDoesNot) {
  const TemporaryFolder folder;
  const auto data = token_data(counting(folder, 12, 20), 12);
  TrainConfig config;
  config.model.head = models::Head::token;
  expect_error<InputError>([&] { data->fit(config); }, "needs 13");
  const auto shorter = token_data(counting(folder, 12, 20), 8);
  shorter->fit(config);
  EXPECT_EQ(config.model.vocab_size, 1000);
  models::ModelConfig small = config.model;
  small.vocab_size = 999;
  expect_error<InputError>([&] { shorter->require_fits(small); }, "999");
  expect_error<InputError>([&] { shorter->require_fits({}); }, "sequences of vectors");
}

TEST(TokenData, MeansOtherDefaults) {
  const TemporaryFolder folder;
  counting(folder, 12, 20);
  const auto config = [&](const nlohmann::json& model) {
    return train_config_from_json({{"data", folder.path().string()}, {"model", model}}, "");
  };
  const TrainConfig usual = config({{"model", "edelta"}});
  EXPECT_EQ(usual.preset, "chars");
  EXPECT_EQ(usual.model.head, models::Head::token);
  EXPECT_EQ(models::to_json(usual.model)["pool"], "prefix");
  EXPECT_FALSE(usual.vocab);
  EXPECT_EQ(config({{"model", "gpt"}, {"vocab", 70}}).vocab, 70);
  expect_error<InputError>([&] { config({{"model", "ddl"}, {"pool", "sequence"}}); },
                           "see those that it is to predict");
  // Nothing is pooled there.
  EXPECT_NO_THROW(config({{"model", "edelta"}, {"branch", "none"}, {"pool", "sequence"}}));
  expect_error<InputError>(
      [] { train_config_from_json({{"task", "gyroscope"}, {"preset", "chars"}}, ""); },
      "sequences of vectors");
}

}  // namespace
}  // namespace edelta::train
