#include "infer/text_stream.h"

#include <gtest/gtest.h>

namespace edelta::infer {
namespace {

TEST(TextStream, ShowsWholeCharactersOnly) {
  TextStream stream;
  EXPECT_EQ(stream.add("a\xc3"), "a");
  EXPECT_EQ(stream.add("\xa9"), "é");
  EXPECT_EQ(stream.add("\xf0\x9f\x98"), "");
  EXPECT_EQ(stream.add("\x80z"), "😀z");
  EXPECT_EQ(stream.finish(), "");
}

TEST(TextStream, ReplacesWhatIsNoCharacter) {
  TextStream stream;
  EXPECT_EQ(stream.add("a\xff"
                       "b"),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(stream.add("\xe2\x82"), "");
  EXPECT_EQ(stream.finish(), "\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(TextStream, EndsBeforeTheStopText) {
  TextStream stream("\n\nEnd");
  EXPECT_EQ(stream.add("one\n"), "one");
  EXPECT_EQ(stream.add("two\n\nE"), "\ntwo");
  EXPECT_EQ(stream.add("x\n\n"), "\n\nEx");
  EXPECT_FALSE(stream.stopped());
  EXPECT_EQ(stream.add("End of it"), "");
  EXPECT_TRUE(stream.stopped());
  EXPECT_EQ(stream.add("more"), "");
  EXPECT_EQ(stream.finish(), "");
}

TEST(TextStream, GivesBackABegunStopTextAtTheEnd) {
  TextStream stream("stop");
  EXPECT_EQ(stream.add("st"), "");
  EXPECT_EQ(stream.finish(), "st");
}

}  // namespace
}  // namespace edelta::infer
