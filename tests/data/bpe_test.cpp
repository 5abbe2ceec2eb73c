#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/atomic_file.h"
#include "data/tokenizers/byte_alphabet.h"
#include "data/tokenizers/words.h"
#include "edelta/base/error.h"
#include "edelta/data/bpe_trainer.h"
#include "expect_error.h"
#include "temporary_folder.h"

namespace edelta::data {
namespace {

using nlohmann::json;
using test::expect_error;
using Tokens = std::vector<std::int32_t>;

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    words.emplace_back(text.substr(0, first_word(text)));
    text.remove_prefix(words.back().size());
  }
  return words;
}

using Words = std::vector<std::string>;

TEST(Words, AreThoseOfGpt2) {
  EXPECT_EQ(words_of("Hello world!! it's 42"),
            (Words{"Hello", " world", "!!", " it", "'s", " 42"}));
  EXPECT_EQ(words_of("we'll've 'd'x"), (Words{"we", "'ll", "'ve", " '", "d", "'", "x"}));
  EXPECT_EQ(words_of("a   b\n\n c  "), (Words{"a", "  ", " b", "\n\n", " c", "  "}));
  EXPECT_EQ(words_of("a\tb\r\n\tc"), (Words{"a", "\t", "b", "\r\n", "\t", "c"}));
  EXPECT_EQ(words_of("é9½Ⅷ你好。x_"), (Words{"é", "9½Ⅷ", "你好", "。", "x", "_"}));
  // White_Space beyond ASCII is space, but not the one that a word begins with.
  EXPECT_EQ(words_of("a\u00a0b\u3000\u2028c\u0085d"),
            (Words{"a", "\u00a0", "b", "\u3000", "\u2028", "c", "\u0085", "d"}));
  // A byte that is no character is neither letter, number nor space.
  EXPECT_EQ(words_of("a\xff\xc3 \x80z"), (Words{"a", "\xff\xc3", " \x80", "z"}));
}

// Characters of every class, parts of characters, and whatever else.
std::string random_text(std::uint64_t seed, std::size_t parts) {
  static const Words pool{"a",    "Bc",
                          "é",    "你",
                          "1",    "½",
                          " ",    "  ",
                          "\n",   "'",
                          "'s",   "'ll",
                          "\xff", "\xe4\xbd",
                          "\x80", "\u00a0",
                          "!",    "😀",
                          "_",    "the",
                          " the", std::string(1, '\0')};
  std::string text;
  std::uint64_t state = seed * 2 + 1;
  for (std::size_t i = 0; i < parts; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    text += pool[(state >> 33) % pool.size()];
  }
  return text;
}

std::string random_bytes(std::uint64_t seed, std::size_t count) {
  std::string bytes;
  std::uint64_t state = seed * 2 + 1;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    bytes += static_cast<char>(state >> 56);
  }
  return bytes;
}

std::shared_ptr<const Tokenizer> trained(const std::string& text, std::int64_t vocab) {
  BpeTrainer trainer;
  trainer.add(text);
  return trainer.train(vocab);
}

TEST(Words, EndAtTheSamePlacesInPieces) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const std::string text = random_text(seed, 40);
    std::set<std::size_t> ends{0};
    for (std::size_t at = 0; at < text.size();) {
      at += first_word(std::string_view(text).substr(at));
      ends.insert(at);
    }
    for (std::size_t size = 0; size <= text.size(); ++size) {
      const std::size_t end = last_word_end(std::string_view(text).substr(0, size));
      ASSERT_TRUE(ends.contains(end)) << "seed " << seed << ", " << size << " bytes: " << end;
    }
  }
}

TEST(ByteAlphabet, IsThatOfGpt2) {
  EXPECT_EQ(to_byte_alphabet(" the\n"), "ĠtheĊ");
  EXPECT_EQ(to_byte_alphabet(std::string("\0\x7f\xad\xff", 4)), "ĀġŃÿ");
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(from_byte_alphabet(to_byte_alphabet(all)), all);
  EXPECT_EQ(from_byte_alphabet(" "), std::nullopt);
  EXPECT_EQ(from_byte_alphabet("\u0144"), std::nullopt);
  EXPECT_EQ(from_byte_alphabet("你"), std::nullopt);
  EXPECT_EQ(from_byte_alphabet("\xff"), std::nullopt);
}

// The definition: recount everything for each merge.
std::vector<std::string> learnt_slowly(const std::string& text, std::size_t vocab) {
  std::vector<Words> all;
  for (const std::string& word : words_of(text)) {
    all.emplace_back();
    for (const char byte : word) all.back().emplace_back(1, byte);
  }
  std::map<std::string, int> number;
  std::vector<std::string> tokens;
  for (int i = 0; i < 256; ++i) tokens.emplace_back(1, static_cast<char>(i));
  for (int i = 0; i < 256; ++i) number[tokens[i]] = i;
  while (tokens.size() < vocab) {
    std::map<std::pair<int, int>, int> counts;
    for (const Words& word : all) {
      for (std::size_t k = 1; k < word.size(); ++k)
        ++counts[{number[word[k - 1]], number[word[k]]}];
    }
    std::pair<int, int> best;
    int most = 1;
    for (const auto& [pair, count] : counts) {
      if (count > most) std::tie(best, most) = std::make_tuple(pair, count);
    }
    if (most < 2) break;
    const std::string left = tokens[best.first], right = tokens[best.second];
    number[left + right] = static_cast<int>(tokens.size());
    tokens.push_back(left + right);
    for (Words& word : all) {
      Words next;
      for (std::size_t k = 0; k < word.size(); ++k) {
        const bool both = k + 1 < word.size() && word[k] == left && word[k + 1] == right;
        next.push_back(both ? left + right : word[k]);
        if (both) ++k;
      }
      word = next;
    }
  }
  return tokens;
}

TEST(BpeTrainer, LearnsWhatTheDefinitionDoes) {
  const std::string repeated = "aaaa aaa aa ababab banana bandana ananas aaaaaaa";
  for (const std::string& text : {repeated, random_text(1, 400), random_text(2, 400)}) {
    const std::vector<std::string> expected = learnt_slowly(text, 300);
    const auto tokenizer = trained(text, 300);
    ASSERT_EQ(tokenizer->vocab_size(), static_cast<std::int64_t>(expected.size()));
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(tokenizer->bytes_of(i), expected[i]);
  }
  EXPECT_EQ(trained("abc", 300)->vocab_size(), 256);  // no pair occurs twice
  EXPECT_EQ(trained("abab", 256)->vocab_size(), 256);
  EXPECT_THROW(trained("abab", 255), InputError);
}

TEST(Bpe, GivesBackWhatWasEncoded) {
  const auto tokenizer = trained(random_text(3, 5000), 400);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (const std::string& text : {random_bytes(seed, seed * 3), random_text(seed, 100)}) {
      ASSERT_EQ(tokenizer->decode(tokenizer->encode(text)), text) << seed;
    }
  }
  EXPECT_EQ(tokenizer->encode(""), Tokens());
  const std::string longest(100'000, 'a');
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(longest)), longest);
}

TEST(Bpe, EncodesPiecesAsTheWhole) {
  const auto tokenizer = trained(random_text(4, 5000), 400);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::string text = random_text(seed, 200);
    for (const std::size_t piece : {1, 2, 5, 64}) {
      Tokens tokens;
      std::string waiting;
      const auto encode = [&](std::size_t bytes) {
        const Tokens next = tokenizer->encode(std::string_view(waiting).substr(0, bytes));
        tokens.insert(tokens.end(), next.begin(), next.end());
        waiting.erase(0, bytes);
      };
      for (std::size_t at = 0; at < text.size(); at += piece) {
        waiting += text.substr(at, piece);
        encode(tokenizer->complete_prefix(waiting));
      }
      encode(waiting.size());
      ASSERT_EQ(tokens, tokenizer->encode(text)) << seed << " by " << piece;
    }
  }
}

// A vocabulary of the 256 bytes, "ab", " c" and, by `merges`, what is made of them.
json small_file() {
  return json::parse(trained("abab abab ab cc cc cc cc", 259)->to_json().dump());
}

TEST(Bpe, ComesBackFromItsFile) {
  const auto tokenizer = trained(random_text(5, 5000), 350);
  const auto same = tokenizer_from_json(json::parse(tokenizer->to_json().dump()), "file");
  EXPECT_EQ(same->kind(), "bpe");
  const std::string text = random_text(6, 1000);
  EXPECT_EQ(same->encode(text), tokenizer->encode(text));
  EXPECT_EQ(same->to_json(), tokenizer->to_json());
}

TEST(Bpe, KeepsTokensThatWereAdded) {
  json file = small_file();
  file["added_tokens"] = {{{"id", 259}, {"content", "<｜end｜>"}, {"special", true}}};
  const auto tokenizer = tokenizer_from_json(file, "file");
  EXPECT_EQ(tokenizer->vocab_size(), 260);
  EXPECT_EQ(tokenizer->decode(Tokens{259}), "<｜end｜>");
  EXPECT_GT(tokenizer->encode("<｜end｜>").size(), 1u);  // text is no such token
  EXPECT_EQ(tokenizer_from_json(json::parse(tokenizer->to_json().dump()), "file")->to_json(),
            tokenizer->to_json());
  // Pairs instead of lines, as newer files have them.
  json pairs = json::array();
  for (const json& merge : file["model"]["merges"]) {
    const auto line = merge.get<std::string>();
    const auto space = line.find(' ');
    pairs.push_back({line.substr(0, space), line.substr(space + 1)});
  }
  file["model"]["merges"] = pairs;
  EXPECT_EQ(tokenizer_from_json(file, "file")->to_json(), tokenizer->to_json());
}

TEST(Bpe, RefusesFilesThatItWouldMisread) {
  const auto refuse = [](const std::string& path, const json& value, const std::string& what) {
    json file = small_file();
    file[json::json_pointer(path)] = value;
    expect_error<InputError>([&] { tokenizer_from_json(file, "some.json"); }, "some.json", what);
  };
  refuse("/normalizer", {{"type", "NFC"}}, "normalizer");
  refuse("/pre_tokenizer", nullptr, "pre_tokenizer");
  refuse("/pre_tokenizer/type", "Sequence", "pre_tokenizer");
  refuse("/pre_tokenizer/add_prefix_space", true, "add_prefix_space");
  refuse("/decoder/type", 3, "decoder");
  refuse("/model", 3, "vocab");
  refuse("/model/type", "Unigram", "BPE");
  refuse("/model/end_of_word_suffix", "</w>", "end_of_word_suffix");
  refuse("/model/ignore_merges", true, "ignore_merges");
  refuse("/model/vocab", 3, "vocab");
  refuse("/model/vocab/a", -1, "-1");
  refuse("/model/vocab/a", 1e18, "\"a\"");
  refuse("/model/vocab/a", 98, "98");
  refuse("/model/vocab/你", 259, "alphabet");
  refuse("/model/vocab/zz", 300, "300");
  refuse("/model/merges", 3, "merges");
  refuse("/model/merges/0", 3, "merges");
  refuse("/model/merges/0", "a", "merge");
  refuse("/model/merges/0", "a  b", "merge");
  refuse("/model/merges/0", "q q", "\"qq\"");
  refuse("/model/merges/-", small_file()["model"]["merges"][0], "twice");
  refuse("/added_tokens", 3, "added_tokens");
  refuse("/added_tokens/-", {{"content", "x"}}, "id");
  json file = small_file();
  file["model"]["vocab"].erase("z");
  file["model"]["vocab"]["zz"] = 'z';
  expect_error<InputError>([&] { tokenizer_from_json(file, "some.json"); }, "0x7a");
}

TEST(Bpe, ReadsTheFilesOfGpt2) {
  const test::TemporaryFolder folder;
  const json file = small_file();
  std::string merges = "#version: 0.2\n";
  for (const json& merge : file["model"]["merges"]) merges += merge.get<std::string>() + "\n";
  expect_error<InputError>([&] { find_tokenizer(folder.path()); }, "vocab.bpe");
  base::write_text_atomically(folder / "vocab.bpe", merges);
  expect_error<InputError>([&] { find_tokenizer(folder.path()); }, "encoder.json");
  base::write_text_atomically(folder / "encoder.json", file["model"]["vocab"].dump());
  const auto tokenizer = find_tokenizer(folder.path());
  EXPECT_EQ(tokenizer->to_json(), tokenizer_from_json(file, "file")->to_json());
  base::write_text_atomically(folder / "vocab.bpe", merges + "a\n");
  expect_error<InputError>([&] { find_tokenizer(folder.path()); }, "vocab.bpe", "\"a\"");
}

}  // namespace
}  // namespace edelta::data
