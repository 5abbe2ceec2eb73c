// How a series looks: the same architecture is drawn alike in every figure.
#pragma once

#include <string>
#include <vector>

namespace edelta::reproduce::report {

struct SeriesStyle {
  std::string colour;  // #rrggbb
  std::string dashes;  // gnuplot's dashtype
  int mark = 0;        // gnuplot's pointtype; 0: none
  double width = 2;

  bool operator==(const SeriesStyle&) const = default;
};

inline const SeriesStyle kReferenceStyle{"#555555", "(5,4)", 0, 1.3};

bool is_architecture(const std::string& name);

// The look of an architecture. Later series of the same one in a panel (`repetition` > 0) keep its
// hue, with another lightness, dashes and marks.
SeriesStyle architecture_style(const std::string& name, int repetition = 0);

// The look of the index-th series that belongs to no architecture.
SeriesStyle numbered_style(int index);

// A colour moved towards white, by a share of 0 to 1.
std::string lightened(const std::string& colour, double share);

// What a colour on white becomes on the page's dark ground: greys change sides, from that ground
// for white to the page's ink for black; others are lightened as far as they need to stand out.
std::string on_dark(const std::string& colour);

}  // namespace edelta::reproduce::report
