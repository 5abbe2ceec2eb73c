// The page about a comparison of runs.
#pragma once

#include <optional>
#include <string>

#include "reproduce/compare/comparison.h"

namespace edelta::reproduce {

struct ComparisonPage {
  std::string title;
  // The page asks the address it came from for its successor so often; absent: it never changes.
  std::optional<double> refresh_seconds = {};
};

// One HTML file, which needs no other and no network. Failure when gnuplot does not draw.
std::string to_html(const Comparison& comparison, const ComparisonPage& page);

}  // namespace edelta::reproduce
