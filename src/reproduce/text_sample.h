// What a trained language model writes.
#pragma once

#include <string>

namespace edelta::reproduce {

struct TextSample {
  std::string label;  // of the model
  std::string text;
};

}  // namespace edelta::reproduce
