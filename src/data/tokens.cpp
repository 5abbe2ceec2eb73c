#include "edelta/data/tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/checksum.h"
#include "base/input_file.h"
#include "base/json.h"
#include "base/mapped_file.h"
#include "data/text_info.h"
#include "data/token_files.h"
#include "edelta/base/error.h"

namespace edelta::data {
namespace {

namespace fs = std::filesystem;

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tokens are used as they are in the file");

template <class Token>
std::span<const Token> tokens_in(std::string_view bytes) {
  return {reinterpret_cast<const Token*>(bytes.data()), bytes.size() / sizeof(Token)};
}

// Without a branch in the loop, so that it becomes a vector's maximum.
template <class Token>
Token largest(std::span<const Token> tokens) {
  Token found = 0;
  for (const Token token : tokens) found = std::max(found, token);
  return found;
}

template <class Token>
std::string check_tokens(std::span<const Token> tokens, std::int64_t vocab_size,
                         const fs::path& path) {
  constexpr std::size_t kBlock = std::size_t{1} << 16;  // stays in the cache for the checksum
  base::Checksum sum;
  for (std::size_t begin = 0; begin < tokens.size(); begin += kBlock) {
    const auto block = tokens.subspan(begin, std::min(kBlock, tokens.size() - begin));
    sum.add(block.data(), block.size_bytes());
    if (largest(block) < vocab_size) continue;
    const auto bad =
        std::find_if(block.begin(), block.end(), [&](Token token) { return token >= vocab_size; });
    const std::size_t offset = (begin + (bad - block.begin())) * sizeof(Token);
    throw InputError(
        fmt::format("{}: the token at byte {} is {}; the vocabulary has {} tokens, from 0 to {}",
                    path.string(), offset, *bad, vocab_size, vocab_size - 1));
  }
  return sum.text();
}

void require_described(const TextInfo& info, const fs::path& file, const FileIdentity& identity) {
  if (info.files.at(file.filename()) == identity) return;
  throw InputError(
      fmt::format("{}: it is not the file that {} tells of", file.string(), kTextFile));
}

// What a folder says of its vocabulary.
struct Description {
  std::optional<TextInfo> info;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::optional<std::int64_t> vocab_size;
};

Description describe(const fs::path& folder) {
  Description found;
  const fs::path tokenizer_file = folder / kTokenizerFile, text_file = folder / kTextFile;
  if (base::is_there(tokenizer_file)) {
    found.tokenizer = read_tokenizer(tokenizer_file);
    found.vocab_size = found.tokenizer->vocab_size();
  }
  if (base::is_there(text_file)) {
    found.info = text_info_from_json(base::read_json(text_file), text_file.string());
    if (found.tokenizer) {
      require_described(*found.info, tokenizer_file, identify_file(tokenizer_file));
    }
    found.vocab_size = found.info->vocab_size;
  }
  return found;
}

std::int64_t chosen_vocabulary(const fs::path& folder, std::optional<std::int64_t> told,
                               std::optional<std::int64_t> given) {
  if (!told && !given) {
    throw InputError(
        fmt::format("{}: there is no {} and no {}; say with --vocab how many tokens there are",
                    folder.string(), kTextFile, kTokenizerFile));
  }
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const std::int64_t least = told.value_or(1);
  const std::int64_t vocabulary = given.value_or(least);
  if (vocabulary < least || vocabulary > kMost) {
    throw InputError(fmt::format("vocab is {}; for {} it must be from {} to {}", vocabulary,
                                 folder.string(), least, kMost));
  }
  return vocabulary;
}

TokenFile read_split(const fs::path& folder, const char* name, int token_bytes,
                     std::int64_t vocab_size, const std::optional<TextInfo>& info) {
  const fs::path path = folder / name;
  TokenFile file(path, token_bytes);
  const std::string sum = file.check(vocab_size);
  const auto bytes = static_cast<std::uint64_t>(file.size()) * token_bytes;
  if (info) require_described(*info, path, {bytes, sum});
  return file;
}

}  // namespace

TokenFile::TokenFile(const fs::path& path, int token_bytes)
    : path_(path),
      file_(std::make_shared<const base::MappedFile>(path)),
      token_bytes_(token_bytes),
      size_(static_cast<std::int64_t>(file_->bytes().size()) / token_bytes) {
  const std::size_t bytes = file_->bytes().size();
  if (bytes % token_bytes != 0) {
    throw InputError(fmt::format("{}: {} bytes are no whole number of tokens of {} bytes",
                                 path.string(), bytes, token_bytes));
  }
  if (size_ < 2) {
    throw InputError(fmt::format("{}: it has {}; there must be at least 2 tokens", path.string(),
                                 size_ == 0 ? "none" : "one token"));
  }
}

void TokenFile::copy(std::int64_t begin, std::int64_t count, std::int64_t* out) const {
  if (begin < 0 || count < 0 || begin > size_ || count > size_ - begin) {
    throw std::out_of_range(
        fmt::format("{}: no tokens {} to {}", path_.string(), begin, begin + count));
  }
  if (count == 0) return;
  file_->require_whole();
  const auto copy_from = [&](const auto* tokens) { std::copy_n(tokens + begin, count, out); };
  const std::string_view bytes = file_->bytes();
  if (token_bytes_ == 2) {
    copy_from(tokens_in<std::uint16_t>(bytes).data());
  } else {
    copy_from(tokens_in<std::uint32_t>(bytes).data());
  }
}

std::string TokenFile::check(std::int64_t vocab_size) const {
  const std::string_view bytes = file_->bytes();
  return token_bytes_ == 2 ? check_tokens(tokens_in<std::uint16_t>(bytes), vocab_size, path_)
                           : check_tokens(tokens_in<std::uint32_t>(bytes), vocab_size, path_);
}

bool is_token_folder(const fs::path& folder) { return base::is_there(folder / kTrainTokens); }

TokenDataset read_token_dataset(const fs::path& folder, std::optional<std::int64_t> vocab,
                                const std::function<void(const std::string&)>& on_notice) {
  const Description described = describe(folder);
  const fs::path meta = folder / "meta.pkl";
  if (on_notice && base::is_there(meta)) {
    on_notice(fmt::format("{} is ignored: reading a pickle would run it", meta.string()));
  }
  TokenDataset dataset;
  dataset.vocab_size = chosen_vocabulary(folder, described.vocab_size, vocab);
  dataset.tokenizer = described.tokenizer;
  // A padded vocabulary does not change the files.
  const int token_bytes = token_bytes_for(described.vocab_size.value_or(dataset.vocab_size));
  const auto& info = described.info;
  dataset.train = read_split(folder, kTrainTokens, token_bytes, dataset.vocab_size, info);
  dataset.val = read_split(folder, kValTokens, token_bytes, dataset.vocab_size, info);
  if (info) {
    dataset.train_bytes = info->train.bytes;
    dataset.val_bytes = info->val.bytes;
  }
  return dataset;
}

}  // namespace edelta::data
