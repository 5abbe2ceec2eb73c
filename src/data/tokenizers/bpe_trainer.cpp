#include "edelta/data/bpe_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <queue>
#include <tuple>

#include "data/tokenizers/bpe.h"
#include "data/tokenizers/words.h"
#include "edelta/base/error.h"

namespace edelta::data {
namespace {

constexpr std::int64_t kBytes = 256;

struct Word {
  std::vector<std::int32_t> tokens;
  std::int64_t count = 0;
};

// How often each pair of neighbours occurs, and in which words: a merge changes only these.
class PairCounts {
 public:
  explicit PairCounts(std::vector<Word> words) : words_(std::move(words)) {
    for (std::uint32_t i = 0; i < words_.size(); ++i) {
      count_pairs(words_[i], 1);
      note_pairs(i, kAny);
    }
    for (const auto& [pair, found] : pairs_) heap_.push({found.count, pair});
  }

  // The most frequent pair; nothing where none occurs twice.
  std::optional<std::uint64_t> best() {
    while (!heap_.empty()) {
      const Candidate top = heap_.top();
      const std::int64_t count = pairs_.at(top.pair).count;
      // Merges since have taken from it.
      if (top.count != count) {
        heap_.pop();
        if (count > 0) heap_.push({count, top.pair});
        continue;
      }
      if (count < 2) return std::nullopt;
      heap_.pop();
      return top.pair;
    }
    return std::nullopt;
  }

  void merge(const Merge& merge) {
    const std::uint64_t pair = pair_of(merge.left, merge.right);
    const std::vector<std::uint32_t> changed = std::move(pairs_.at(pair).words);
    created_.clear();
    for (const std::uint32_t i : changed) {
      count_pairs(words_[i], -1);
      replace(words_[i].tokens, merge);
      count_pairs(words_[i], 1);
      note_pairs(i, merge.merged);
    }
    pairs_.erase(pair);
    for (const std::uint64_t each : created_) heap_.push({pairs_.at(each).count, each});
  }

 private:
  static constexpr std::int32_t kAny = -1;

  struct Found {
    std::int64_t count = 0;
    std::vector<std::uint32_t> words;  // those it was in; it may have left some
  };
  struct Candidate {
    std::int64_t count;
    std::uint64_t pair;
    bool operator<(const Candidate& other) const {
      return std::tie(count, other.pair) < std::tie(other.count, pair);
    }
  };

  void count_pairs(const Word& word, int sign) {
    for (std::size_t k = 1; k < word.tokens.size(); ++k) {
      pairs_[pair_of(word.tokens[k - 1], word.tokens[k])].count += sign * word.count;
    }
  }

  // Notes that word i has its pairs: those with this token, the others are known.
  void note_pairs(std::uint32_t i, std::int32_t token) {
    const std::vector<std::int32_t>& tokens = words_[i].tokens;
    for (std::size_t k = 1; k < tokens.size(); ++k) {
      if (token != kAny && tokens[k - 1] != token && tokens[k] != token) continue;
      const std::uint64_t pair = pair_of(tokens[k - 1], tokens[k]);
      std::vector<std::uint32_t>& in = pairs_.at(pair).words;
      if (in.empty()) created_.push_back(pair);
      if (in.empty() || in.back() != i) in.push_back(i);
    }
  }

  static void replace(std::vector<std::int32_t>& tokens, const Merge& merge) {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < tokens.size(); ++k) {
      const bool both =
          k + 1 < tokens.size() && tokens[k] == merge.left && tokens[k + 1] == merge.right;
      tokens[kept++] = both ? merge.merged : tokens[k];
      if (both) ++k;
    }
    tokens.resize(kept);
  }

  std::vector<Word> words_;
  std::unordered_map<std::uint64_t, Found> pairs_;
  std::vector<std::uint64_t> created_;  // by the merge at hand
  // Counts as they were when pushed; a pair that lost some is pushed again when it comes up.
  std::priority_queue<Candidate> heap_;
};

std::vector<Word> as_bytes(const auto& counted) {
  std::vector<Word> words;
  words.reserve(counted.size());
  for (const auto& [text, count] : counted) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    words.push_back({{bytes, bytes + text.size()}, count});
  }
  return words;
}

}  // namespace

void BpeTrainer::add(std::string_view text) {
  while (!text.empty()) {
    const std::string_view word = text.substr(0, first_word(text));
    text.remove_prefix(word.size());
    const auto found = words_.find(word);
    if (found != words_.end()) {
      ++found->second;
    } else {
      words_.emplace(word, 1);
    }
  }
}

std::size_t BpeTrainer::complete_prefix(std::string_view text) { return last_word_end(text); }

std::shared_ptr<const Tokenizer> BpeTrainer::train(
    std::int64_t vocab_size, const std::function<void(std::int64_t)>& on_merge) const {
  if (vocab_size < kBytes) {
    throw InputError(fmt::format("vocab is {}; it must be at least {}, one token for each byte",
                                 vocab_size, kBytes));
  }
  BpeVocabulary vocabulary;
  for (int i = 0; i < kBytes; ++i) vocabulary.tokens.emplace_back(1, static_cast<char>(i));
  PairCounts pairs(as_bytes(words_));
  while (static_cast<std::int64_t>(vocabulary.tokens.size()) < vocab_size) {
    const auto best = pairs.best();
    if (!best) break;
    const Merge merge{static_cast<std::int32_t>(*best >> 32), static_cast<std::int32_t>(*best),
                      static_cast<std::int32_t>(vocabulary.tokens.size())};
    vocabulary.tokens.push_back(vocabulary.tokens[merge.left] + vocabulary.tokens[merge.right]);
    vocabulary.merges.push_back(merge);
    pairs.merge(merge);
    if (on_merge) on_merge(static_cast<std::int64_t>(vocabulary.tokens.size()));
  }
  return std::make_shared<BpeTokenizer>(std::move(vocabulary));
}

}  // namespace edelta::data
