// The report: what the paper says, what was measured, whether it holds, as a page for people.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace edelta::experiments {

// Makes everything from the results alone: report.html, which needs no other file and no network,
// report.md, which links to the figures, and figures/ID.svg and .png. Returns the paths of the two
// pages. Failure, before anything is written, when a figure cannot be drawn.
std::vector<std::filesystem::path> write_report(const nlohmann::ordered_json& results,
                                                const std::filesystem::path& folder);

}  // namespace edelta::experiments
