// Measures what a step asks for, in this process.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "reproduce/step.h"

namespace edelta::reproduce {

// The JSON is that of the layer that measures. InputError for impossible requests.
nlohmann::ordered_json measure(const Request& request);

}  // namespace edelta::reproduce
