#include "base/utf8.h"

#include <gtest/gtest.h>

namespace edelta::base {
namespace {

TEST(Utf8, EveryCharacterComesBack) {
  for (std::uint32_t point = 0; point <= 0x10ffff; ++point) {
    const std::string text = utf8_of(point);
    if (point >= 0xd800 && point < 0xe000) {
      EXPECT_EQ(text, "");
      continue;
    }
    const Character character = first_character(text);
    ASSERT_TRUE(character.valid && character.code_point == point && character.bytes == text.size())
        << point;
  }
  EXPECT_EQ(utf8_of(0x110000), "");
}

TEST(Utf8, KnowsWhatMayGoOn) {
  const std::string text = "aé€𝄞";  // of 1, 2, 3 and 4 bytes
  const std::size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};
  for (std::size_t size = 0; size <= text.size(); ++size) {
    EXPECT_EQ(whole_characters(text.substr(0, size)), expected[size]) << size;
  }
  EXPECT_EQ(whole_characters("\x80\x80\x80\x80"), 4u);  // no part of any
  EXPECT_EQ(whole_characters("a\xe2\x82z"), 4u);
}

}  // namespace
}  // namespace edelta::base
