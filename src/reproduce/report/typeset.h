// Numbers inside texts, set as in a book.
#pragma once

#include <string>

namespace edelta::reproduce::report {

// −0.5 for -0.5, 1.2×10⁻⁷ for 1.2e-07, 10⁻³ for 1e-3, 0.33 for 3.3e-01. Words, names and ranges
// stay as they are.
std::string typeset(const std::string& text);

}  // namespace edelta::reproduce::report
