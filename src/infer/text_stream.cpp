#include "infer/text_stream.h"

#include <algorithm>

#include "base/utf8.h"

namespace edelta::infer {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

std::string valid_utf8(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const base::Character first = base::first_character(bytes);
    text += first.valid ? bytes.substr(0, first.bytes) : kReplacement;
    bytes.remove_prefix(first.bytes);
  }
  return text;
}

// How many bytes at the end of `text` may be the beginning of `stop`.
size_t begun(std::string_view text, std::string_view stop) {
  const size_t most = stop.empty() ? 0 : std::min(text.size(), stop.size() - 1);
  for (size_t length = most; length > 0; --length) {
    if (text.ends_with(stop.substr(0, length))) return length;
  }
  return 0;
}

}  // namespace

std::string TextStream::add(std::string_view bytes) {
  if (stopped_) return {};
  held_ += bytes;
  const size_t stop = stop_.empty() ? std::string::npos : held_.find(stop_);
  stopped_ = stop != std::string::npos;
  size_t ready = stop;
  if (!stopped_) {
    const std::string_view before(held_.data(), held_.size() - begun(held_, stop_));
    ready = base::whole_characters(before);
  }
  const std::string shown = valid_utf8(std::string_view(held_).substr(0, ready));
  stopped_ ? held_.clear() : void(held_.erase(0, ready));
  return shown;
}

std::string TextStream::finish() {
  std::string rest = valid_utf8(held_);
  held_.clear();
  return rest;
}

}  // namespace edelta::infer
