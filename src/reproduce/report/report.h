// The report: what the paper says, what was measured, whether it holds, as a page for people.
#pragma once

#include <filesystem>
#include <vector>

#include "reproduce/results.h"

namespace edelta::reproduce::report {

// Makes everything from the results alone: report.html, which needs no other file and no network,
// report.md, which links to the figures, and figures/ID.svg and .png. Returns the paths of the two
// pages. InputError for figures that cannot be drawn and Failure when gnuplot does not draw them,
// before anything is written.
std::vector<std::filesystem::path> write_report(const Results& results,
                                                const std::filesystem::path& folder);

}  // namespace edelta::reproduce::report
