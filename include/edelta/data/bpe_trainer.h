// Learns a byte-level BPE vocabulary from text.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "edelta/data/tokenizer.h"

namespace edelta::data {

// Keeps the different words of the text with how often each occurs, so that the text itself may be
// larger than the memory.
class BpeTrainer {
 public:
  // Text that comes in pieces is added up to complete_prefix() of what is there.
  void add(std::string_view text);
  static std::size_t complete_prefix(std::string_view text);

  // The 256 bytes, then one token for each merge of the pair that is most frequent (of equal ones,
  // the one with the lower numbers), until there are `vocab_size` or no pair occurs twice.
  // `on_merge` is told how many tokens there are.
  std::shared_ptr<const Tokenizer> train(
      std::int64_t vocab_size, const std::function<void(std::int64_t)>& on_merge = {}) const;

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>> words_;
};

}  // namespace edelta::data
