#include "base/printable.h"

#include <gtest/gtest.h>

namespace edelta::base {
namespace {

TEST(Printable, LeavesTextAsItIs) {
  EXPECT_EQ(escaped(""), "");
  EXPECT_EQ(escaped("γ = ½ of 𝔾, a\\n b"), "γ = ½ of 𝔾, a\\n b");
}

TEST(Printable, EscapesWhatATerminalObeys) {
  EXPECT_EQ(escaped("a\nb\tc\rd"), "a\\nb\\tc\\x0dd");
  EXPECT_EQ(escaped("\x1b[31m\x7f"), "\\x1b[31m\\x7f");
  EXPECT_EQ(escaped(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(escaped("\u0085\u202e"), "\\x85\\u202e");
}

TEST(Printable, EscapesWhatIsNoUtf8) {
  EXPECT_EQ(escaped("a\xff"
                    "b"),
            "a\\xffb");
  EXPECT_EQ(escaped("\xce"), "\\xce");                    // cut off
  EXPECT_EQ(escaped("\xc0\xaf"), "\\xc0\\xaf");           // a longer encoding than need be
  EXPECT_EQ(escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(escaped("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(Printable, QuotesAndCutsByWholeCharacters) {
  EXPECT_EQ(printable("a\n"), "\"a\\n\"");
  EXPECT_EQ(printable(std::string(80, 'a')), '"' + std::string(80, 'a') + '"');
  EXPECT_EQ(printable(std::string(79, 'a') + "γ"), '"' + std::string(79, 'a') + "...\"");
}

}  // namespace
}  // namespace edelta::base
