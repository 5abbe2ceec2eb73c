#include "edelta/data/tokenizer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "edelta/base/error.h"
#include "expect_error.h"

namespace edelta::data {
namespace {

using test::expect_error;
using Tokens = std::vector<std::int32_t>;

std::shared_ptr<const Tokenizer> chars(std::vector<std::uint32_t> characters) {
  return make_chars_tokenizer(characters);
}

TEST(BytesTokenizer, TakesEveryByteAsItIs) {
  std::string text;
  for (int i = 255; i >= 0; --i) text += static_cast<char>(i);
  const auto tokenizer = make_bytes_tokenizer();
  const Tokens tokens = tokenizer->encode(text);
  EXPECT_EQ(tokenizer->vocab_size(), 256);
  ASSERT_EQ(tokens.size(), 256u);
  EXPECT_EQ(tokens.front(), 255);
  EXPECT_EQ(tokenizer->decode(tokens), text);
  EXPECT_EQ(tokenizer->encode(""), Tokens());
  expect_error<InputError>([&] { tokenizer->decode(Tokens{3, 256}); }, "256");
  expect_error<InputError>([&] { tokenizer->decode(Tokens{-1}); }, "-1");
}

TEST(CharsTokenizer, HasATokenForEachCharacter) {
  const auto tokenizer = chars({'\n', 'a', 0x20ac, 0x1d11e});
  EXPECT_EQ(tokenizer->vocab_size(), 4);
  const std::string text = "𝄞a€\na";
  EXPECT_EQ(tokenizer->encode(text), (Tokens{3, 1, 2, 0, 1}));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
}

TEST(CharsTokenizer, NamesTheOffsetOfWhatItHasNot) {
  const auto tokenizer = chars({'a', 0x20ac});
  expect_error<InputError>([&] { tokenizer->encode("a€b"); }, "byte 4", "\"b\"");
  expect_error<InputError>([&] { tokenizer->encode("a\xff"); }, "byte 1", "0xff", "UTF-8");
  expect_error<InputError>([&] { tokenizer->encode("a\xe2\x82"); }, "byte 1", "UTF-8");
}

TEST(CharsTokenizer, RefusesWhatIsNoVocabulary) {
  EXPECT_THROW(chars({}), InputError);
  expect_error<InputError>([] { chars({'a', 'b', 'a'}); }, "\"a\"", "twice");
  expect_error<InputError>([] { chars({0xd800}); }, "U+D800");
  expect_error<InputError>([] { chars({0x110000}); }, "U+110000");
}

TEST(Tokenizer, ComesBackFromItsFile) {
  for (const auto& tokenizer : {make_bytes_tokenizer(), chars({0, 'z', 'a', 0xe9})}) {
    const nlohmann::json json = nlohmann::json::parse(tokenizer->to_json().dump());
    const auto same = tokenizer_from_json(json, "tokenizer.json");
    EXPECT_EQ(same->kind(), tokenizer->kind());
    ASSERT_EQ(same->vocab_size(), tokenizer->vocab_size());
    for (int i = 0; i < same->vocab_size(); ++i)
      EXPECT_EQ(same->bytes_of(i), tokenizer->bytes_of(i));
  }
}

TEST(Tokenizer, FilesThatAreNoneAreRefused) {
  const auto refuse = [](const nlohmann::json& json, const std::string& what) {
    expect_error<InputError>([&] { tokenizer_from_json(json, "some.json"); }, "some.json", what);
  };
  refuse(3, "kind");
  refuse({{"kind", "words"}}, "bytes, chars");
  refuse({{"kind", "chars"}}, "characters");
  refuse({{"kind", "chars"}, {"characters", 3}}, "characters");
  refuse({{"kind", "chars"}, {"characters", ""}}, "characters");
  refuse({{"kind", "chars"}, {"characters", "aba"}}, "twice");
}

}  // namespace
}  // namespace edelta::data
