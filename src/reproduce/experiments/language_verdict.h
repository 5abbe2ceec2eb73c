// Do geometric residual connections help on language? In plain words.
#pragma once

#include <string>
#include <vector>

#include "reproduce/statistics.h"

namespace edelta::reproduce {

struct LanguageLoss {
  std::string label;
  Statistics loss;  // over seeds; n = 0: none is run
};

// Of models against `plain`, and of `hybrid` against `control`, the same without its operator. Two
// means are told apart where they differ by more than the sum of their standard deviations.
std::string language_verdict(const std::vector<LanguageLoss>& losses, const std::string& plain,
                             const std::string& hybrid, const std::string& control);

}  // namespace edelta::reproduce
