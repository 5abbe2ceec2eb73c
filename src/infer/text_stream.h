// Text as it is made, piece by piece: never a part of a character, never a part of the stop text.
#pragma once

#include <string>
#include <string_view>

namespace edelta::infer {

class TextStream {
 public:
  // An empty stop text never comes.
  explicit TextStream(std::string stop = {}) : stop_(std::move(stop)) {}

  // What can be shown after these bytes; nothing once the stop text has come. Bytes that are no
  // UTF-8 show as U+FFFD.
  std::string add(std::string_view bytes);
  // What was held back, at the end.
  std::string finish();

  bool stopped() const { return stopped_; }

 private:
  std::string stop_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace edelta::infer
