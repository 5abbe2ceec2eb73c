// The gradients of a whole model in float32, with the fused kernels, against float64.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "edelta/models/registry.h"

namespace edelta::models {
namespace {

using torch::Tensor;

// Vectors, or tokens of which every fifth has no target.
Batch random_batch(const ModelConfig& config, torch::ScalarType dtype) {
  if (config.head == Head::token) {
    const Tensor tokens = torch::randint(config.vocab_size, {8, 201}, torch::kInt64);
    Tensor target = tokens.narrow(1, 1, 200).clone();
    target.slice(1, 0, 200, 5).fill_(-1);
    return {.input = tokens.narrow(1, 0, 200), .target = target, .wants_prediction = false};
  }
  const auto random = [&] {
    return torch::randn({8, 200, config.input_dim}, torch::kFloat64).to(dtype);
  };
  const Tensor input = random();
  return {input, random()};
}

std::map<std::string, Tensor> gradients(const ModelConfig& config, uint64_t seed,
                                        torch::ScalarType dtype) {
  auto model = make_model(config, seed);
  model->to(dtype);
  torch::manual_seed(static_cast<int64_t>(seed));
  Batch batch = random_batch(config, dtype);
  batch.dropout_key = seed;
  State state;
  Tensor loss;
  for (const Loss& each : model->forward(batch, state).losses) {
    loss = loss.defined() ? loss + each.value : each.value;
  }
  loss.backward();
  std::map<std::string, Tensor> found;
  for (const auto& item : model->named_parameters()) {
    found[item.key()] = item.value().grad().to(torch::kFloat64);
  }
  return found;
}

struct Case {
  std::string name;
  nlohmann::json settings;
};

class ModelGradients : public testing::TestWithParam<Case> {};

// Scalars too, which have no larger numbers beside them: a gate's bias sums over all tokens what is
// nearly equal. In float32 such a sum comes out now closer, now further, with composite ops as
// well; what counts is the root mean square of its relative error over three models.
TEST_P(ModelGradients, AgreeForEveryParameter) {
  nlohmann::json settings = GetParam().settings;
  settings.update({{"n_layer", 2}, {"n_embd", 64}, {"input_dim", 8}});
  const ModelConfig config = model_config_from_json(settings, "test");
  constexpr int kSeeds = 3;
  std::map<std::string, double> mean_squares;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto exact = gradients(config, seed, torch::kFloat64);
    const auto fused = gradients(config, seed, torch::kFloat32);
    double largest = 0;
    for (const auto& [name, expected] : exact) {
      largest = std::max(largest, expected.abs().max().item<double>());
    }
    for (const auto& [name, expected] : exact) {
      // A sum that cancels further than that is not told apart from zero: 2e-4 of it is less than a
      // hundredth of the largest gradient's own rounding.
      const double scale = std::max(expected.abs().max().item<double>(), 2e-6 * largest);
      const double error = (fused.at(name) - expected).abs().max().item<double>() / scale;
      mean_squares[name] += error * error / kSeeds;
    }
  }
  for (const auto& [name, square] : mean_squares) EXPECT_LE(std::sqrt(square), 2e-4) << name;
}

// Every architecture, and those with an operator on streams with every blend of it.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* model : {"gpt", "ddl", "mhc", "jpmhc", "edelta", "edelta-stream"}) {
    all.push_back({model, {{"model", model}}});
    all.push_back({std::string(model) + "-dropout", {{"model", model}, {"dropout", 0.2}}});
    // Embeddings of the usual deviation, 0.02, would leave float32 few digits of a gate's gradient.
    all.push_back({std::string(model) + "-token",
                   {{"model", model}, {"head", "token"}, {"vocab_size", 65}, {"init_std", 0.2}}});
  }
  for (const char* model : {"edelta", "edelta-stream"}) {
    all.push_back({std::string(model) + "-geodesic", {{"model", model}, {"blend", "geodesic"}}});
    all.push_back({std::string(model) + "-complex", {{"model", model}, {"field", "complex"}}});
    all.push_back({std::string(model) + "-geodesic-prefix",
                   {{"model", model}, {"blend", "geodesic"}, {"pool", "prefix"}}});
    all.push_back({std::string(model) + "-complex-prefix",
                   {{"model", model}, {"field", "complex"}, {"pool", "prefix"}}});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, ModelGradients, testing::ValuesIn(cases()), [](const auto& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace edelta::models
