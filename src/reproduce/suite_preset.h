// How long and how large the experiments are.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "edelta/probes/depth.h"
#include "edelta/probes/reflection_probe.h"
#include "edelta/verify/theorems.h"

namespace edelta::reproduce {

// A training preset, and what the measurements are given.
struct SuitePreset {
  std::string name;
  std::string train_preset;
  // Settings of the training over the preset's, as train_config_from_json takes them.
  nlohmann::json train = nlohmann::json::object();
  // The same for language models.
  std::string text_preset = "chars";
  nlohmann::json text_train = nlohmann::json::object();
  // The same for recursive models, by the preset that makes their puzzles: train, model, puzzles.
  nlohmann::json puzzles = nlohmann::json::object();
  // Trains long enough that the losses are put beside the paper's; else they are not compared.
  bool comparable = true;
  std::vector<uint64_t> seeds;
  double measurement_share = 1;  // of the usual time of a measurement, for estimates
  verify::TheoremOptions theorems = {};
  probes::ReflectionProbeOptions reflection = {};  // the seeds are the suite's
  // So small that 96 layers can be trained in every preset; models and seeds are the suite's.
  probes::DepthProbeOptions depth = {
      .model_settings = {{"n_embd", 32}}, .task_settings = {{"steps", 32}}, .iterations = 100};
  bench::BenchOptions bench = {};
};
// "paper", "quick", "smoke" and "demo"; InputError for another name.
const SuitePreset& suite_preset(const std::string& name);
std::vector<std::string> suite_preset_names();

}  // namespace edelta::reproduce
