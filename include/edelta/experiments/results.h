// Everything that a suite's folder holds, put together: the tables with the paper's numbers beside
// ours and a verdict, and the data of the figures. The report is made from this alone.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace edelta::experiments {

// The content of results.json; what has not been run is "not run" there. InputError where there is
// no suite.
nlohmann::ordered_json collect_results(const std::filesystem::path& folder);

}  // namespace edelta::experiments
