// Puts together what a suite has produced so far.
#pragma once

#include <filesystem>

#include "reproduce/results.h"

namespace edelta::reproduce {

// What has not been run is "not run" there. InputError where there is no suite.
Results collect_results(const std::filesystem::path& folder);

}  // namespace edelta::reproduce
