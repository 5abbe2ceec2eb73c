// Figures for readers who prefer light on dark.
#pragma once

#include <string>

namespace edelta::reproduce::report {

// The picture with a second set of colours, which it takes where dark is preferred: the page's own
// ground, and what stands out from it. One picture for both, because two would double the page.
std::string with_dark_colours(const std::string& svg);

}  // namespace edelta::reproduce::report
