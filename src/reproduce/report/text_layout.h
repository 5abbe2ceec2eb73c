// How much room text takes in a figure.
#pragma once

#include <string>
#include <vector>

namespace edelta::reproduce::report {

// Pixels; an estimate, as gnuplot itself makes one.
double text_width(const std::string& text, double font);

// Broken after spaces and hyphens where it is wider than `width`.
std::vector<std::string> wrapped(const std::string& text, double width, double font);

}  // namespace edelta::reproduce::report
