#include "data/tokenizers/words.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace edelta::data {
namespace {

enum class Class : unsigned char { letter, number, space, other };

Class class_of_code_point(std::uint32_t point) {
  if ((point >= '\t' && point <= '\r') || point == 0x85) return Class::space;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(point))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return Class::letter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return Class::number;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return Class::space;
    default:
      return Class::other;
  }
}

// Most text is ASCII, and its classes are looked up.
const std::array<Class, 128> kAscii = [] {
  std::array<Class, 128> classes{};
  for (std::uint32_t point = 0; point < classes.size(); ++point) {
    classes[point] = class_of_code_point(point);
  }
  return classes;
}();

struct Classified {
  Class kind;
  std::size_t bytes;
};

Classified classify(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < kAscii.size()) return {kAscii[byte], 1};
  const base::Character character = base::first_character(text.substr(at));
  if (!character.valid) return {Class::other, 1};
  return {class_of_code_point(character.code_point), character.bytes};
}

// Where characters of this class, beginning at `at`, end.
std::size_t end_of(Class kind, std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const Classified next = classify(text, at);
    if (next.kind != kind) break;
    at += next.bytes;
  }
  return at;
}

// The length of 's, 't, 're, 've, 'm, 'll or 'd, or 0.
std::size_t contraction(std::string_view text) {
  if (text.size() < 2 || text[0] != '\'') return 0;
  if (std::string_view("stmd").find(text[1]) != std::string_view::npos) return 2;
  const std::string_view two = text.substr(1, 2);
  return two == "re" || two == "ve" || two == "ll" ? 3 : 0;
}

// Spaces leave their last to the word that follows, except at the end, or where it is alone.
std::size_t spaces(std::string_view text) {
  std::size_t last = 0, end = 0;
  while (end < text.size()) {
    const Classified next = classify(text, end);
    if (next.kind != Class::space) break;
    last = end;
    end += next.bytes;
  }
  return end == text.size() || last == 0 ? end : last;
}

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// Of the character, or the byte that is part of none, before `end` > 0.
Class class_before(std::string_view text, std::size_t end) {
  constexpr std::size_t kLongest = 4;
  std::size_t begin = end - 1;
  while (begin > 0 && end - begin < kLongest && continues(text[begin])) --begin;
  const Classified character = classify(text, begin);
  return begin + character.bytes == end ? character.kind : Class::other;
}

}  // namespace

std::size_t first_word(std::string_view text) {
  const Classified first = classify(text, 0);
  if (first.kind != Class::space) {
    if (const std::size_t bytes = contraction(text)) return bytes;
    return end_of(first.kind, text, first.bytes);
  }
  if (text[0] == ' ' && text.size() > 1) {
    const Classified second = classify(text, 1);
    if (second.kind != Class::space) return end_of(second.kind, text, 1 + second.bytes);
  }
  return spaces(text);
}

std::size_t last_word_end(std::string_view text) {
  // No word goes on from a character to one of another class, but from a space or an apostrophe.
  // What is at the very end may be the beginning of a character.
  for (std::size_t at = base::whole_characters(text); at-- > 1;) {
    if (continues(text[at]) || text[at - 1] == '\'') continue;
    const Class before = class_before(text, at);
    if (before != Class::space && classify(text, at).kind != before) return at;
  }
  return 0;
}

}  // namespace edelta::data
