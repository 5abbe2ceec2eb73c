// Predictors that take no training (specification 7): what a trained model has to beat.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "edelta/data/dataset.h"

namespace edelta::probes {

struct Baseline {
  std::string name;
  double loss = 0;  // mean squared error over the validation split
};

// All of them, in the same order for all data; every one is causal.
std::vector<Baseline> measure_baselines(const data::Dataset& data);

nlohmann::ordered_json to_json(const std::vector<Baseline>& baselines);
// What to_json() wrote; InputError that names `source` and the key.
std::vector<Baseline> baselines_from_json(const nlohmann::json& json, const std::string& source);

}  // namespace edelta::probes
