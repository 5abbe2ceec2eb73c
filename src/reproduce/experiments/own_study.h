// What our own studies have in common: variants of trained models on tasks of the paper and ours.
#pragma once

#include <string>
#include <vector>

#include "reproduce/experiment.h"

namespace edelta::reproduce {

struct OwnStudy {
  std::string name, title, claim, method;
  std::vector<Variant> variants;
  std::vector<std::string> tasks = {"gyroscope", "stability"};
  bool plateau = false;  // show when the plateau of predicting zero was left
};
Experiment own_study(const OwnStudy& study);

// A training protocol that differs from the preset's in some settings, which may be none.
struct Protocol {
  std::string label;
  nlohmann::json train = nlohmann::json::object();
};
// The five architectures, and edelta without an operator; and each of them by every one of the
// protocols.
std::vector<Variant> five_and_no_operator();
std::vector<Variant> all_models_by(const std::vector<Protocol>& protocols);

// edelta with some settings.
Variant edelta_with(const std::string& label, const nlohmann::json& settings);

// jpmhc with α = 0, at which its mixer of streams is the identity: the routes alone.
Variant jpmhc_without_operator();

}  // namespace edelta::reproduce
