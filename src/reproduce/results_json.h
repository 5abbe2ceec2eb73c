// results.json, in the format "edelta-results-1".
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "reproduce/results.h"

namespace edelta::reproduce {

nlohmann::ordered_json to_json(const Results& results);

// Reads what may have come from anywhere: what is absent has its default, and InputError says what
// makes it no results.
Results results_from_json(const nlohmann::ordered_json& json);
// One of its figures.
Figure figure_from_json(const nlohmann::ordered_json& json);

}  // namespace edelta::reproduce
