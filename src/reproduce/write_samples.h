// What the best model of a run on text writes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "reproduce/step.h"

namespace edelta::reproduce {

// {"samples": [{"text": …}, …]}; edelta generate --json has that, too.
nlohmann::ordered_json write_samples(const WriteSamples& request);
std::vector<std::string> samples_from_json(const nlohmann::json& json, const std::string& source);

}  // namespace edelta::reproduce
