#include "edelta/train/checkpoint.h"

#include <gtest/gtest.h>

#include <fstream>

#include "edelta/base/error.h"
#include "temporary_folder.h"

namespace edelta::train {
namespace {

models::ModelConfig small(int64_t width = 16) {
  models::ModelConfig config;
  config.n_layer = 1;
  config.n_embd = width;
  config.n_head = 2;
  config.block_size = 8;
  config.input_dim = 3;
  return config;
}

// A model after a step, with something to carry.
struct TrainedModel {
  explicit TrainedModel(uint64_t seed, int64_t width = 16)
      : model(models::make_model(small(width), seed)), optimiser(*model, {}) {}
  void step() {
    for (auto& parameter : model->parameters()) {
      parameter.mutable_grad() = torch::ones_like(parameter);
    }
    optimiser.step(1e-3, optimiser.gradient_norm());
  }
  std::shared_ptr<models::Model> model;
  AdamW optimiser;
  models::State state;
};

const Progress kProgress{7, 5, 0.1, 1.0 / 3.0, 12.5, {}, {}};

TEST(Checkpoint, GivesEverythingBackBitForBit) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "checkpoint.safetensors";
  TrainedModel saved(1);
  saved.step();
  saved.state["z_H"] = torch::randn({2, 3});
  write_checkpoint(file, *saved.model, saved.optimiser, saved.state, kProgress);
  TrainedModel loaded(2);
  const Progress progress = read_checkpoint(file, *loaded.model, loaded.optimiser, loaded.state);
  EXPECT_EQ(progress.iteration, 7);
  EXPECT_EQ(progress.best_iteration, 5);
  EXPECT_EQ(progress.best_val_loss, 0.1);
  EXPECT_EQ(progress.initial_val_loss, 1.0 / 3.0);
  EXPECT_EQ(progress.seconds, 12.5);
  EXPECT_EQ(read_progress(file).iteration, 7);
  EXPECT_EQ(read_progress(file).seconds, 12.5);
  EXPECT_EQ(loaded.optimiser.steps(), 7);
  EXPECT_TRUE(torch::equal(loaded.state["z_H"], saved.state["z_H"]));
  const auto expected = saved.model->named_parameters();
  for (const auto& item : loaded.model->named_parameters()) {
    EXPECT_TRUE(torch::equal(item.value(), expected[item.key()])) << item.key();
  }
  const auto moments = saved.optimiser.state();
  for (const auto& [name, moment] : loaded.optimiser.state()) {
    EXPECT_TRUE(torch::equal(moment, moments.at(name))) << name;
  }
}

TEST(Checkpoint, RefusesADamagedByteAndAnotherModel) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "checkpoint.safetensors";
  TrainedModel saved(1);
  write_checkpoint(file, *saved.model, saved.optimiser, saved.state, kProgress);
  TrainedModel wider(1, 32);
  EXPECT_THROW(read_checkpoint(file, *wider.model, wider.optimiser, wider.state), InputError);

  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekg(-5, std::ios::end);
  const char changed = static_cast<char>(bytes.get() ^ 1);
  bytes.seekp(-5, std::ios::end);
  bytes.put(changed);
  bytes.close();
  TrainedModel loaded(2);
  EXPECT_THROW(read_checkpoint(file, *loaded.model, loaded.optimiser, loaded.state), InputError);
}

}  // namespace
}  // namespace edelta::train
