#include "edelta/probes/depth.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "edelta/base/error.h"
#include "edelta/models/architecture_options.h"
#include "edelta/models/registry.h"
#include "expect_error.h"

namespace edelta::probes {
namespace {

using torch::Tensor;

constexpr int64_t kLayers = 5;

models::ModelConfig small(const std::string& model) {
  models::ModelConfig config;
  config.model = model;
  config.n_layer = kLayers;
  config.n_embd = 16;
  config.n_head = 2;
  config.block_size = 6;
  config.input_dim = 3;
  return config;
}

Tensor sequences(uint64_t seed) {
  torch::manual_seed(seed);
  return torch::randn({4, 6, 3});
}

// The sub-layers add nothing: the operators alone are left.
void silence(models::Model& model) {
  const torch::NoGradGuard no_grad;
  for (auto& item : model.named_parameters()) {
    if (item.key().ends_with("c_proj.weight")) item.value().zero_();
  }
}

class DepthOfEvery : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Depth, DepthOfEvery,
                         testing::Values("gpt", "ddl", "mhc", "jpmhc", "edelta", "edelta-stream"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// The loss's slope along a small change of what is embedded is what the gradient there says: the
// position embedding is added to x_0 directly, so its gradient is that at x_0, summed over the
// batch.
TEST_P(DepthOfEvery, GradientsAreThoseOfTheLoss) {
  const auto model = models::make_model(small(GetParam()), 3);
  const Tensor x = sequences(1).narrow(0, 0, 1), y = sequences(2).narrow(0, 0, 1);
  const DepthProfile profile = profile_depth(*model, x, y, 1);
  models::State state;
  const models::Output output = model->forward({x, y}, state, {.record_residual = true});
  ASSERT_EQ(output.seen.residual.size(), static_cast<size_t>(kLayers + 1));
  const Tensor loss = output.losses.front().value;
  EXPECT_NEAR(profile.loss, loss.item<double>(), 1e-6);
  for (const Tensor& each : output.seen.residual) each.retain_grad();
  loss.backward();
  const Tensor embedding = model->named_parameters()["pos_emb"].grad();
  const double last = output.seen.residual.back().grad().norm().item<double>();
  EXPECT_NEAR(profile.gradient.front(), embedding.norm().item<double>() / last,
              1e-4 * profile.gradient.front());
  for (size_t layer = 0; layer <= kLayers; ++layer) {
    EXPECT_NEAR(profile.gradient[layer],
                output.seen.residual[layer].grad().norm().item<double>() / last,
                1e-4 * profile.gradient[layer]);
  }
  EXPECT_EQ(profile.gradient.back(), 1);
}

TEST_P(DepthOfEvery, ReportsWhatTheModelHas) {
  const auto model = models::make_model(small(GetParam()), 3);
  const DepthProfile profile = profile_depth(*model, sequences(1), sequences(2), 2);
  const bool streams = models::find_architecture(GetParam()).streams;
  EXPECT_EQ(profile.signal.size(), static_cast<size_t>(kLayers + 1));
  EXPECT_NEAR(profile.signal.front(), 1, 1e-12);
  EXPECT_EQ(profile.token_cosine.size(), static_cast<size_t>(kLayers + 1));
  EXPECT_EQ(profile.stream_cosine.size(), streams ? static_cast<size_t>(kLayers + 1) : 0u);
  EXPECT_EQ(profile.product.has_value(), streams);
  EXPECT_FALSE(model->is_training());
  // One position has no pairs.
  const Tensor one = sequences(1).narrow(1, 0, 1);
  EXPECT_TRUE(profile_depth(*model, one, one, 2).token_cosine.empty());
}

TEST(Depth, CosinesAreThoseOfAllPairs) {
  const auto model = models::make_model(small("edelta"), 3);
  const Tensor x = sequences(1);
  const DepthProfile profile = profile_depth(*model, x, x, 4);
  models::State state;
  const models::Output output = model->forward({x}, state, {.record_residual = true});
  const Tensor last = output.seen.residual.back().detach();
  const auto mean_of_pairs = [](const Tensor& rows) {
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < rows.size(0); ++i) {
      for (int64_t j = 0; j < i; ++j, ++count) {
        sum += (rows[i].dot(rows[j]) / rows[i].norm() / rows[j].norm()).item<double>();
      }
    }
    return sum / static_cast<double>(count);
  };
  double tokens = 0, streams = 0;
  for (int64_t row = 0; row < 4; ++row) {
    tokens += mean_of_pairs(last[row]) / 4;
    for (int64_t t = 0; t < 6; ++t) streams += mean_of_pairs(last[row][t].view({4, 4})) / 24;
  }
  EXPECT_NEAR(profile.token_cosine.back(), tokens, 1e-5);
  EXPECT_NEAR(profile.stream_cosine.back(), streams, 1e-5);
}

// Rotations that do not look at the input: the residual path is one orthogonal matrix.
TEST(Depth, FixedRotationsKeepSignalAndGradient) {
  models::ModelConfig config = small("edelta");
  auto& hybrid = config.options.get<models::HybridOptions>();
  hybrid.branch = geometry::Branch::cayley;
  hybrid.generator = geometry::GeneratorKind::fixed;
  const auto model = models::make_model(config, 3);
  silence(*model);
  const DepthProfile profile = profile_depth(*model, sequences(1), sequences(2), 4);
  for (size_t layer = 0; layer <= kLayers; ++layer) {
    EXPECT_NEAR(profile.signal[layer], 1, 1e-5) << layer;
    EXPECT_NEAR(profile.gradient[layer], 1, 1e-5) << layer;
  }
  EXPECT_LT(profile.product->orthogonality_error, 1e-5);
}

TEST(Depth, RotationsOfTheInputKeepTheSignal) {
  models::ModelConfig config = small("edelta");
  config.options.get<models::HybridOptions>().branch = geometry::Branch::cayley;
  const auto model = models::make_model(config, 3);
  silence(*model);
  const DepthProfile profile = profile_depth(*model, sequences(1), sequences(2), 4);
  for (const double signal : profile.signal) EXPECT_NEAR(signal, 1, 1e-5);
  EXPECT_NEAR(profile.product->smallest_singular, 1, 1e-5);
  EXPECT_NEAR(profile.product->largest_singular, 1, 1e-5);
  EXPECT_LT(profile.product->orthogonality_error, 1e-5);
}

// At γ = ½ a rotation and a reflection cancel in part: the product loses a direction.
TEST(Depth, UndecidedGatesLoseADirection) {
  const auto model = models::make_model(small("edelta"), 3);
  const DepthProfile profile = profile_depth(*model, sequences(1), sequences(2), 4);
  EXPECT_LT(profile.product->smallest_singular, 1e-3);
}

DepthProbeOptions few() {
  DepthProbeOptions options;
  options.models = {"gpt", "edelta"};
  options.layers = {1, 3};
  options.model_settings = {{"n_embd", 16}, {"branch", "cayley"}};
  options.task_settings = {{"steps", 6}, {"train", 8}, {"val", 4}};
  options.preset = "smoke";
  options.iterations = 3;
  options.sequences = 2;
  return options;
}

TEST(Depth, ProbesEveryModelAtEveryDepth) {
  DepthProbeOptions options = few();
  int64_t calls = 0;
  options.on_progress = [&](const DepthProgress& progress) {
    EXPECT_EQ(progress.runs, 4);
    ++calls;
  };
  const std::vector<DepthRun> runs = probe_depth(options);
  EXPECT_EQ(calls, 4 * (1 + 3));
  ASSERT_EQ(runs.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(runs[i].model, i < 2 ? "gpt" : "edelta");
    EXPECT_EQ(runs[i].layers, i % 2 == 0 ? 1 : 3);
    ASSERT_TRUE(runs[i].trained);
    EXPECT_NE(runs[i].trained->loss, runs[i].start.loss);
  }
  EXPECT_EQ(to_json(probe_depth(options), options), to_json(runs, options));
  options.iterations = 0;
  const std::vector<DepthRun> untrained = probe_depth(options);
  EXPECT_FALSE(untrained[0].trained);
  EXPECT_EQ(untrained[3].start.loss, runs[3].start.loss);
}

TEST(Depth, RefusesImpossibleOptions) {
  const auto refused = [](auto change, const std::string& reason) {
    DepthProbeOptions options = few();
    change(options);
    test::expect_error<InputError>([&] { probe_depth(options); }, reason);
  };
  refused([](auto& options) { options.models = {"gpt"}; }, "--branch");
  refused([](auto& options) { options.models = {"gtp"}; }, "did you mean 'gpt'");
  refused([](auto& options) { options.layers = {}; }, "depth");
  refused([](auto& options) { options.layers = {0}; }, "layers");
  refused([](auto& options) { options.task = "spiral"; }, "spiral");
  refused([](auto& options) { options.preset = "slow"; }, "slow");
  refused([](auto& options) { options.iterations = -1; }, "iterations");
  refused([](auto& options) { options.model_settings["n_embd"] = 17; }, "width");
}

}  // namespace
}  // namespace edelta::probes
