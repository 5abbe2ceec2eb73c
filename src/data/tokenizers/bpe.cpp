#include "data/tokenizers/bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/printable.h"
#include "data/tokenizers/words.h"
#include "edelta/base/error.h"

namespace edelta::data {
namespace {

constexpr std::int32_t kNone = -1;

}  // namespace

BpeTokenizer::BpeTokenizer(BpeVocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {
  std::vector<bool> added(vocabulary_.tokens.size(), false);
  for (const AddedToken& each : vocabulary_.added) added[each.token] = true;
  byte_tokens_.fill(kNone);
  for (std::size_t i = 0; i < vocabulary_.tokens.size(); ++i) {
    const std::string& bytes = vocabulary_.tokens[i];
    if (bytes.size() != 1 || added[i]) continue;
    byte_tokens_[static_cast<unsigned char>(bytes[0])] = static_cast<std::int32_t>(i);
  }
  const auto missing = std::find(byte_tokens_.begin(), byte_tokens_.end(), kNone);
  if (missing != byte_tokens_.end()) {
    throw InputError(
        fmt::format("the vocabulary has no token for the byte 0x{:02x}; it must have all 256",
                    missing - byte_tokens_.begin()));
  }
  ranks_.reserve(vocabulary_.merges.size());
  for (const auto& [left, right, merged] : vocabulary_.merges) {
    const auto rank = static_cast<std::uint32_t>(ranks_.size());
    if (!ranks_.emplace(pair_of(left, right), rank).second) {
      throw InputError(fmt::format("merges has {} with {} twice", base::printable(bytes_of(left)),
                                   base::printable(bytes_of(right))));
    }
  }
}

// Merges in one word after another. A list of symbols, linked so that a merge costs the same
// anywhere, and a heap of the pairs in it; what a merge has made obsolete is skipped when it comes
// up. So a word of n bytes takes O(n log n).
class BpeTokenizer::WordEncoder {
 public:
  explicit WordEncoder(const BpeTokenizer& tokenizer) : tokenizer_(tokenizer) {}

  void encode(std::string_view word, std::vector<std::int32_t>& out) {
    symbols_.clear();
    for (const char byte : word) {
      const auto next = static_cast<std::uint32_t>(symbols_.size() + 1);
      symbols_.push_back(
          {tokenizer_.byte_tokens_[static_cast<unsigned char>(byte)], next - 2, next});
    }
    for (std::uint32_t i = 0; i + 1 < symbols_.size(); ++i) propose(i);
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const std::uint64_t best = heap_.back();
      heap_.pop_back();
      merge(tokenizer_.vocabulary_.merges[best >> 32], static_cast<std::uint32_t>(best));
    }
    for (std::uint32_t i = 0; i < symbols_.size(); i = symbols_[i].next) {
      out.push_back(symbols_[i].token);
    }
  }

 private:
  struct Symbol {
    std::int32_t token;
    std::uint32_t before, next;  // the last one's `next` is the number of bytes
  };

  // The pair that begins at symbol i, by its rank; of equal ones the leftmost comes first.
  void propose(std::uint32_t i) {
    const std::uint32_t next = symbols_[i].next;
    const auto found = tokenizer_.ranks_.find(pair_of(symbols_[i].token, symbols_[next].token));
    if (found == tokenizer_.ranks_.end()) return;
    heap_.push_back(static_cast<std::uint64_t>(found->second) << 32 | i);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  void merge(const Merge& merge, std::uint32_t i) {
    Symbol& symbol = symbols_[i];
    if (symbol.token != merge.left || symbol.next == symbols_.size()) return;
    Symbol& right = symbols_[symbol.next];
    if (right.token != merge.right) return;
    symbol.token = merge.merged;
    symbol.next = right.next;
    right.token = kNone;
    if (symbol.next < symbols_.size()) {
      symbols_[symbol.next].before = i;
      propose(i);
    }
    if (i > 0) propose(symbol.before);
  }

  const BpeTokenizer& tokenizer_;
  std::vector<Symbol> symbols_;
  std::vector<std::uint64_t> heap_;
};

std::vector<std::int32_t> BpeTokenizer::encode(std::string_view text) const {
  // Most words have come before: their tokens are copied from there.
  struct Place {
    std::size_t begin, count;
  };
  constexpr std::size_t kLongestKept = 64;
  std::unordered_map<std::string_view, Place> seen;
  WordEncoder encoder(*this);
  std::vector<std::int32_t> tokens;
  tokens.reserve(text.size() / 3);
  while (!text.empty()) {
    const std::string_view word = text.substr(0, first_word(text));
    text.remove_prefix(word.size());
    const std::size_t begin = tokens.size();
    if (const auto found = seen.find(word); found != seen.end()) {
      const auto [from, count] = found->second;
      tokens.resize(begin + count);
      std::copy_n(tokens.begin() + from, count, tokens.begin() + begin);
      continue;
    }
    encoder.encode(word, tokens);
    if (word.size() <= kLongestKept) seen.emplace(word, Place{begin, tokens.size() - begin});
  }
  return tokens;
}

std::size_t BpeTokenizer::complete_prefix(std::string_view text) const {
  return last_word_end(text);
}

}  // namespace edelta::data
