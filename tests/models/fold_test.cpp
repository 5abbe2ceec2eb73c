#include "edelta/models/fold.h"

#include <gtest/gtest.h>

#include "edelta/base/error.h"
#include "edelta/models/architecture_options.h"
#include "expect_error.h"

namespace edelta::models {
namespace {

using test::expect_error;
using torch::Tensor;

ModelConfig small(const std::string& model) {
  ModelConfig config;
  config.model = model;
  config.n_layer = 2;
  config.n_embd = 24;
  config.n_head = 2;
  config.block_size = 9;
  config.input_dim = 5;
  return config;
}

// With weights so large that every map shows in the outputs.
std::shared_ptr<Model> lively(const ModelConfig& config) {
  const auto model = make_model(config);
  torch::manual_seed(1);
  const torch::NoGradGuard no_grad;
  for (Tensor& parameter : model->parameters()) parameter.normal_(0, 0.3);
  return model;
}

void expect_folds(const ModelConfig& config, const std::string& to) {
  const auto model = lively(config);
  const auto plain = folded(*model);
  EXPECT_EQ(plain->config().model, to);
  for (const auto& item : plain->named_parameters()) {
    EXPECT_EQ(item.key().find("h_p"), std::string::npos) << item.key();
  }
  torch::manual_seed(2);
  const Tensor x = torch::randn({3, 9, 5});
  const torch::NoGradGuard no_grad;
  const Tensor y = model->predict(x);
  EXPECT_LT(((y - plain->predict(x)).abs().max() / y.abs().max()).item<double>(), 2e-5);
}

TEST(Fold, GivesTheSameOutputsWithoutTheMaps) {
  for (const bool bias : {false, true}) {
    for (const int64_t factors : {1, 3}) {
      for (const Projections projections :
           {Projections::on, Projections::attention_pre, Projections::mlp, Projections::off}) {
        for (const std::string name : {"gpt", "edelta"}) {
          ModelConfig config = small(name);
          config.bias = bias;
          config.options.get<ProjectionMapOptions>() = {projections, factors};
          config.options.get<HybridOptions>().branch = geometry::Branch::none;
          expect_folds(config, "gpt");
        }
      }
    }
  }
}

TEST(Fold, KeepsAnOperator) {
  ModelConfig config = small("edelta");
  config.options.get<HybridOptions>().branch = geometry::Branch::cayley;
  expect_folds(config, "edelta");
}

TEST(Fold, NeedsMapsThatFold) {
  const auto model = make_model(small("jpmhc"));
  expect_error<InputError>([&] { folded(*model); }, "a jpmhc model has no maps that fold");
}

}  // namespace
}  // namespace edelta::models
