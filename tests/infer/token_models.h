// Small models on tokens whose every weight matters, for the tests of generation.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "edelta/models/model.h"

namespace edelta::infer {

inline models::ModelConfig token_config(const nlohmann::json& options) {
  nlohmann::json json{{"head", "token"},  {"n_layer", 3},    {"n_embd", 48},
                      {"n_head", 3},      {"n_streams", 4},  {"vocab_size", 37},
                      {"block_size", 24}, {"pool", "prefix"}};
  json.update(options);
  return models::model_config_from_json(json, "test");
}

// Norms, biases and gates away from where they start, too.
inline std::shared_ptr<models::Model> random_model(const nlohmann::json& options,
                                                   uint64_t seed = 1) {
  auto model = models::make_model(token_config(options), seed);
  const torch::NoGradGuard no_grad;
  torch::manual_seed(seed);
  for (torch::Tensor& parameter : model->parameters()) {
    parameter.add_(torch::randn_like(parameter), 0.08);
  }
  return model;
}

inline std::vector<int32_t> random_tokens(int64_t count, int64_t vocab_size, uint64_t seed) {
  torch::manual_seed(seed);
  const torch::Tensor drawn = torch::randint(vocab_size, {count}, torch::kInt32);
  return {drawn.data_ptr<int32_t>(), drawn.data_ptr<int32_t>() + count};
}

}  // namespace edelta::infer
