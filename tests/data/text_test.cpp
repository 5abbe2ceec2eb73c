#include "edelta/data/text.h"

#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "edelta/base/error.h"
#include "edelta/data/tokens.h"
#include "expect_error.h"
#include "temporary_folder.h"

namespace edelta::data {
namespace {

using test::expect_error;

std::string text_of(const TokenFile& file, const Tokenizer& tokenizer) {
  std::vector<std::int64_t> tokens(file.size());
  file.copy(0, file.size(), tokens.data());
  return tokenizer.decode(std::vector<std::int32_t>(tokens.begin(), tokens.end()));
}

// Longer than a piece, so that pieces meet within words and characters.
std::string long_text() {
  std::string text;
  for (int i = 0; text.size() < 9'000'000; ++i) text += "wörd" + std::to_string(i) + "你好 's\n";
  return text;
}

TEST(TokenFolder, HoldsTheTextInOrder) {
  const test::TemporaryFolder folder;
  const std::string text = long_text();
  base::write_text_atomically(folder / "a", text.substr(0, 5'000'001));
  base::write_text_atomically(folder / "b", "");
  base::write_text_atomically(folder / "c", text.substr(5'000'001));
  for (const std::string& kind : tokenizer_names()) {
    const TextInfo info =
        write_token_folder(folder / kind, {folder / "a", folder / "b", folder / "c"},
                           {.tokenizer = kind, .vocab = 300});
    const TokenDataset dataset = read_token_dataset(folder / kind, std::nullopt);
    EXPECT_EQ(dataset.tokenizer->kind(), kind);
    EXPECT_EQ(dataset.train_bytes + dataset.val_bytes, static_cast<std::int64_t>(text.size()));
    EXPECT_EQ(dataset.train.size(), info.train.tokens);
    const std::string train = text_of(dataset.train, *dataset.tokenizer);
    EXPECT_EQ(static_cast<std::int64_t>(train.size()), dataset.train_bytes);
    EXPECT_TRUE(train + text_of(dataset.val, *dataset.tokenizer) == text) << kind;
    if (kind != "bpe") continue;
    EXPECT_TRUE(dataset.tokenizer->encode(train).size() ==
                static_cast<std::size_t>(info.train.tokens));
  }
}

TEST(TokenFolder, SplitsByCharactersWhereTheyAreTokens) {
  const test::TemporaryFolder folder;
  base::write_text_atomically(folder / "a", "éééééabcde");  // 15 bytes
  const auto split = [&](const std::string& kind) {
    return write_token_folder(folder / kind, {folder / "a"},
                              {.tokenizer = kind, .vocab = 256, .val = 0.75})
        .train.bytes;
  };
  EXPECT_EQ(split("bytes"), 3);
  EXPECT_EQ(split("chars"), 4);
  EXPECT_EQ(split("bpe"), 2);  // back to where a character begins
}

TEST(TokenFolder, IsNotThereWhereItsTextIsRefused) {
  const test::TemporaryFolder folder;
  base::write_text_atomically(folder / "good", "good text");
  base::write_text_atomically(folder / "bad",
                              "ba\xe4\xbd"
                              "d");
  const auto refuse = [&](const TextOptions& options, const std::string& what) {
    expect_error<InputError>(
        [&] { write_token_folder(folder / "out", {folder / "good", folder / "bad"}, options); },
        what);
    EXPECT_EQ(folder.entries(), 2u);
  };
  refuse({.tokenizer = "chars"}, "bad: byte 2 is 0xe4");
  refuse({.tokenizer = "words"}, "bytes, chars, bpe");
  refuse({.val = 0}, "val");
  refuse({.val = 0.01}, "val.bin");
  EXPECT_THROW(write_token_folder(folder / "out", {folder / "good"}, {}, false,
                                  [](const TextProgress&) { throw Failure("stopped"); }),
               Failure);
  EXPECT_EQ(folder.entries(), 2u);
}

}  // namespace
}  // namespace edelta::data
