// What edelta demo ends with on the terminal.
#pragma once

#include <string>

#include "reproduce/results.h"

namespace edelta::cli {

// What held, in numbers; where the page is, and how to go on.
std::string demo_summary(const reproduce::Results& results, const std::string& page);

}  // namespace edelta::cli
