#include "models/recursive/level.h"

#include <string>

namespace edelta::models {

using torch::Tensor;

Level::Level(const RecursiveConfig& config, int64_t layers) {
  const auto list = register_module("layers", std::make_shared<torch::nn::Module>());
  for (int64_t i = 0; i < layers; ++i) {
    layers_.push_back(std::make_shared<RecursiveBlock>(config));
    list->register_module(std::to_string(i), layers_.back());
  }
}

Tensor Level::forward(const Tensor& input, const ops::RotaryTables& rotary, LevelSeen& seen) {
  seen = {};
  Tensor x = input;
  for (const auto& layer : layers_) x = layer->forward(x, rotary, seen);
  return x;
}

void Level::initialise(at::Generator& generator) {
  for (const auto& layer : layers_) layer->initialise(generator);
}

}  // namespace edelta::models
