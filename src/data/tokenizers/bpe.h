// Byte-level byte-pair encoding: every word starts as its bytes, and the pair that comes first in
// the list of merges becomes one token, until no pair of the word is in the list.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "edelta/data/tokenizer.h"

namespace edelta::data {

struct Merge {
  std::int32_t left = 0, right = 0, merged = 0;
};

// A token that stands for a text of its own and that no text is encoded to, such as <|endoftext|>.
struct AddedToken {
  std::int32_t token = 0;
  bool special = true;
};

struct BpeVocabulary {
  std::vector<std::string> tokens;  // their bytes
  std::vector<Merge> merges;        // the first is the strongest
  std::vector<AddedToken> added;    // of the tokens
};

class BpeTokenizer : public Tokenizer {
 public:
  // InputError where a byte has no token of its own, or a pair is to be merged twice. The numbers
  // in the merges must be tokens.
  explicit BpeTokenizer(BpeVocabulary vocabulary);

  std::string kind() const override { return "bpe"; }
  std::int64_t vocab_size() const override {
    return static_cast<std::int64_t>(vocabulary_.tokens.size());
  }
  std::vector<std::int32_t> encode(std::string_view text) const override;
  std::string_view bytes_of(std::int32_t token) const override { return vocabulary_.tokens[token]; }
  nlohmann::ordered_json to_json() const override;
  std::size_t complete_prefix(std::string_view text) const override;

 private:
  class WordEncoder;

  BpeVocabulary vocabulary_;
  std::array<std::int32_t, 256> byte_tokens_;
  std::unordered_map<std::uint64_t, std::uint32_t> ranks_;  // by the pair
};

inline std::uint64_t pair_of(std::int32_t left, std::int32_t right) {
  return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
}

}  // namespace edelta::data
