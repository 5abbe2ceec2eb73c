// Results for other programs.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json.h"

namespace edelta::cli {

inline void print_json(const nlohmann::ordered_json& json) {
  fmt::print("{}\n", base::json_text(json, 2));
}

}  // namespace edelta::cli
