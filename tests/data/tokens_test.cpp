#include "edelta/data/tokens.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/json.h"
#include "data/text_info.h"
#include "edelta/base/error.h"
#include "expect_error.h"
#include "temporary_folder.h"

namespace edelta::data {
namespace {

namespace fs = std::filesystem;
using test::expect_error;

template <class Token>
void write_tokens(const fs::path& path, const std::vector<Token>& tokens) {
  base::write_text_atomically(
      path, {reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(Token)});
}

template <class Token>
void write_folder(const fs::path& folder, const std::vector<Token>& train,
                  const std::vector<Token>& val) {
  fs::create_directories(folder);
  write_tokens(folder / "train.bin", train);
  write_tokens(folder / "val.bin", val);
}

using Narrow = std::vector<std::uint16_t>;

// Complete, as edelta text writes it.
void write_described(const fs::path& folder) {
  write_folder<std::uint16_t>(folder, {104, 101, 108}, {108, 111});
  base::write_json(folder / "tokenizer.json", make_bytes_tokenizer()->to_json());
  TextInfo info;
  info.tokenizer = "bytes";
  info.vocab_size = 256;
  info.train = {3, 3};
  info.val = {2, 2};
  info.files = identify(folder);
  base::write_json(folder / "text.json", text_info_to_json(info));
}

void expect_refused(const fs::path& folder, const std::string& name, const std::string& reason,
                    std::optional<std::int64_t> vocab = 100) {
  expect_error<InputError>([&] { read_token_dataset(folder, vocab); }, name, reason);
}

TEST(TokenDataset, ReadsForeignFolders) {
  const test::TemporaryFolder folder;
  write_folder<std::uint16_t>(folder.path(), {5, 6, 7, 99}, {1, 0});
  EXPECT_TRUE(is_token_folder(folder.path()));
  std::ofstream(folder / "meta.pkl") << "x";
  std::vector<std::string> notices;
  const auto dataset = read_token_dataset(
      folder.path(), 100, [&](const std::string& notice) { notices.push_back(notice); });
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_NE(notices[0].find("meta.pkl"), std::string::npos);
  EXPECT_EQ(dataset.vocab_size, 100);
  EXPECT_EQ(dataset.train.size(), 4);
  EXPECT_EQ(dataset.val.size(), 2);
  EXPECT_EQ(dataset.train_bytes, 0);
  EXPECT_EQ(dataset.tokenizer, nullptr);
  std::int64_t tokens[3] = {};
  dataset.train.copy(1, 3, tokens);
  EXPECT_EQ(tokens[0], 6);
  EXPECT_EQ(tokens[2], 99);
  EXPECT_THROW(dataset.train.copy(2, 3, tokens), std::out_of_range);
  EXPECT_THROW(dataset.train.copy(-1, 1, tokens), std::out_of_range);
  expect_refused(folder.path(), folder.path(), "--vocab", std::nullopt);
}

TEST(TokenDataset, IsWideWhereTheVocabularyIs) {
  const test::TemporaryFolder folder;
  write_folder<std::uint32_t>(folder.path(), {70000, 3, 1}, {1, 70000});
  const auto dataset = read_token_dataset(folder.path(), 70001);
  std::int64_t tokens[2] = {};
  EXPECT_EQ(dataset.train.size(), 3);
  dataset.train.copy(0, 2, tokens);
  EXPECT_EQ(tokens[0], 70000);
  expect_refused(folder.path(), "train.bin", "byte 0 is 70000", 70000);
}

TEST(TokenDataset, NamesFileAndPlaceOfATokenOutsideTheVocabulary) {
  const test::TemporaryFolder folder;
  // In a block of its own, behind others.
  Narrow train(200'000, 99);
  write_folder<std::uint16_t>(folder.path(), train, {0, 1});
  read_token_dataset(folder.path(), 100);
  train[150'001] = 100;
  write_folder<std::uint16_t>(folder.path(), train, {0, 1});
  expect_refused(folder.path(), "train.bin", "byte 300002 is 100");
  write_folder<std::uint16_t>(folder.path(), {0, 1}, {7, 65535});
  expect_refused(folder.path(), "val.bin", "byte 2 is 65535");
}

TEST(TokenDataset, RefusesFilesThatAreNone) {
  const test::TemporaryFolder folder;
  EXPECT_FALSE(is_token_folder(folder.path()));
  const fs::path train = folder / "train.bin";
  const auto with_train = [&](const std::string& bytes) {
    write_folder<std::uint16_t>(folder.path(), {0, 1}, {0, 1});
    base::write_text_atomically(train, bytes);
  };
  with_train("abc");
  expect_refused(folder.path(), "train.bin", "3 bytes");
  with_train("");
  expect_refused(folder.path(), "train.bin", "none");
  with_train("ab");
  expect_refused(folder.path(), "train.bin", "at least 2");
  fs::remove(train);
  fs::create_directory(train);
  expect_refused(folder.path(), "train.bin", "regular");
  fs::remove(train);
  ASSERT_EQ(::mkfifo(train.c_str(), 0600), 0);
  expect_refused(folder.path(), "train.bin", "regular");
  fs::remove(train);
  expect_refused(folder.path(), "train.bin", "No such file");
  for (const std::int64_t vocab : {std::int64_t{0}, std::int64_t{-3}, std::int64_t{1} << 40}) {
    expect_refused(folder.path(), "vocab", std::to_string(vocab), vocab);
  }
}

TEST(TokenDataset, NoticesAFileThatIsShortenedMeanwhile) {
  const test::TemporaryFolder folder;
  write_folder<std::uint16_t>(folder.path(), Narrow(10000, 7), {1, 0});
  const TokenDataset dataset = read_token_dataset(folder.path(), 100);
  std::int64_t token = 0;
  dataset.train.copy(9999, 1, &token);
  EXPECT_EQ(token, 7);
  fs::resize_file(folder / "train.bin", 100);
  expect_error<InputError>([&] { dataset.train.copy(9999, 1, &token); }, "train.bin", "shortened");
}

TEST(TokenDataset, KnowsWhatItsFolderTells) {
  const test::TemporaryFolder folder;
  write_described(folder.path());
  const auto dataset = read_token_dataset(folder.path(), std::nullopt);
  EXPECT_EQ(dataset.vocab_size, 256);
  EXPECT_EQ(dataset.train_bytes, 3);
  EXPECT_EQ(dataset.val_bytes, 2);
  ASSERT_NE(dataset.tokenizer, nullptr);
  EXPECT_EQ(dataset.tokenizer->kind(), "bytes");
  // Padded, but never less than the folder's.
  EXPECT_EQ(read_token_dataset(folder.path(), 70000).vocab_size, 70000);
  expect_refused(folder.path(), "vocab", "255", 255);
}

TEST(TokenDataset, NoticesWhatItsFolderDoesNotTell) {
  const test::TemporaryFolder folder;
  write_described(folder.path());
  write_tokens<std::uint16_t>(folder / "val.bin", {108, 112});
  expect_refused(folder.path(), "val.bin", "text.json", std::nullopt);
  write_described(folder.path());
  std::ofstream(folder / "tokenizer.json", std::ios::app) << "\n";
  expect_refused(folder.path(), "tokenizer.json", "text.json", std::nullopt);
  write_described(folder.path());
  nlohmann::json text = base::read_json(folder / "text.json");
  text["train"]["bytes"] = 4;
  base::write_json(folder / "text.json", text);
  expect_refused(folder.path(), "text.json", "changed or damaged", std::nullopt);
  base::write_text_atomically(folder / "text.json", "{}");
  expect_refused(folder.path(), "text.json", "checksum", std::nullopt);
}

TEST(TokenDataset, IsIdentifiedByItsFiles) {
  const test::TemporaryFolder folder;
  write_described(folder.path());
  const Identity identity = identify(folder.path());
  EXPECT_EQ(identity.size(), 4u);
  require_identity(folder.path(), identity);
  fs::remove(folder / "text.json");
  expect_error<InputError>([&] { require_identity(folder.path(), identity); }, "text.json");
  fs::remove(folder / "tokenizer.json");
  EXPECT_EQ(identify(folder.path()).size(), 2u);
  fs::remove(folder / "val.bin");
  EXPECT_THROW(identify(folder.path()), InputError);
}

}  // namespace
}  // namespace edelta::data
