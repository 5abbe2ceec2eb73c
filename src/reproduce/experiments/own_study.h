// What our own studies have in common: variants of trained models on the two tasks of the main
// comparison.
#pragma once

#include <string>
#include <vector>

#include "reproduce/experiment.h"

namespace edelta::reproduce {

struct OwnStudy {
  std::string name, title, claim, method;
  std::vector<Variant> variants;
};
Experiment own_study(const OwnStudy& study);

// edelta with some settings.
Variant edelta_with(const std::string& label, const nlohmann::json& settings);

}  // namespace edelta::reproduce
