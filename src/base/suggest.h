// What a misspelt name was probably meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edelta::base {

// The candidate that is the fewest slips away from the word (a letter too many, missing, replaced,
// or swapped with its neighbour; upper and lower case are one), or else the only one that begins
// with it; the earlier of two as near. Empty when nothing is near: more slips than a third of the
// word, or than three, make it another word.
std::string closest(std::string_view word, const std::vector<std::string>& candidates);

// " (did you mean 'eval'?)", or nothing when nothing is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace edelta::base
