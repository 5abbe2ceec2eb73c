// Text as tokens in files: what language models learn from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "edelta/data/tokenizer.h"

namespace edelta::base {
class MappedFile;
}

namespace edelta::data {

// train.bin or val.bin: little-endian unsigned integers without a header, as nanoGPT has them.
// Mapped, not loaded; copies share the mapping.
class TokenFile {
 public:
  TokenFile() = default;
  // Tokens of 2 or 4 bytes. InputError where the file is no such file, or has fewer than two
  // tokens: one to look at and one to predict.
  TokenFile(const std::filesystem::path& path, int token_bytes);

  std::int64_t size() const { return size_; }  // tokens
  // Tokens begin … begin + count − 1, which must be in the file.
  void copy(std::int64_t begin, std::int64_t count, std::int64_t* out) const;

  // Reads the whole file once: InputError with the file and the byte where a token is not below
  // `vocab_size`. Returns the checksum of its content.
  std::string check(std::int64_t vocab_size) const;

 private:
  std::filesystem::path path_;
  std::shared_ptr<const base::MappedFile> file_;
  int token_bytes_ = 2;
  std::int64_t size_ = 0;
};

struct TokenDataset {
  TokenFile train, val;
  std::int64_t vocab_size = 0;
  std::int64_t train_bytes = 0, val_bytes = 0;  // of the text; 0: not known, a foreign folder
  std::shared_ptr<const Tokenizer> tokenizer;   // null where the folder has none
};

// Has a train.bin.
bool is_token_folder(const std::filesystem::path& folder);

// train.bin and val.bin with what tells about them, tokenizer.json and text.json, where the folder
// has these; checked in full, every token included. `vocab` is needed where neither is there, and
// may exceed what they say (a padded vocabulary). Notices are one line each.
TokenDataset read_token_dataset(const std::filesystem::path& folder,
                                std::optional<std::int64_t> vocab,
                                const std::function<void(const std::string&)>& on_notice = {});

}  // namespace edelta::data
