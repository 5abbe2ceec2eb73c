// What was run, on what and how, in words.
#pragma once

#include <string>
#include <vector>

#include "reproduce/results.h"

namespace edelta::reproduce::report {

// A name and what there is to say under it.
struct Fact {
  std::string name;
  std::vector<std::string> values;
};

std::vector<Fact> make_facts(const Results& results);

}  // namespace edelta::reproduce::report
