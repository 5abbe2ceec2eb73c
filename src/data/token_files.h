// The names of the files in a token folder.
#pragma once

#include <set>
#include <string>

namespace edelta::data {

inline constexpr const char* kTrainTokens = "train.bin";
inline constexpr const char* kValTokens = "val.bin";
inline constexpr const char* kTokenizerFile = "tokenizer.json";
inline constexpr const char* kTextFile = "text.json";

inline const std::set<std::string>& token_files() {
  static const std::set<std::string> names{kTrainTokens, kValTokens, kTokenizerFile, kTextFile};
  return names;
}

}  // namespace edelta::data
