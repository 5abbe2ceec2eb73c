#include "edelta/data/tokenizer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/input_file.h"
#include "base/json.h"
#include "base/printable.h"
#include "base/required_fields.h"
#include "data/token_files.h"
#include "data/tokenizers/bpe.h"
#include "data/tokenizers/bpe_files.h"
#include "data/tokenizers/kinds.h"
#include "edelta/base/error.h"

namespace edelta::data {

namespace fs = std::filesystem;

const std::vector<std::string>& tokenizer_names() {
  static const std::vector<std::string> names{"bytes", "chars", "bpe"};
  return names;
}

std::string Tokenizer::decode(std::span<const std::int32_t> tokens) const {
  std::string text;
  for (const std::int32_t token : tokens) {
    if (token < 0 || token >= vocab_size()) {
      throw InputError(fmt::format("token {} is not in the vocabulary of {}", token, vocab_size()));
    }
    text += bytes_of(token);
  }
  return text;
}

std::shared_ptr<const Tokenizer> tokenizer_from_json(const nlohmann::json& json,
                                                     const std::string& source) {
  std::shared_ptr<const Tokenizer> tokenizer;
  with_source(source, [&] {
    if (is_hugging_face(json)) {
      tokenizer = std::make_shared<BpeTokenizer>(vocabulary_from_hugging_face(json));
      return;
    }
    const auto kind = base::required<std::string>(json, "kind");
    if (kind == "bytes") {
      tokenizer = make_bytes_tokenizer();
    } else if (kind == "chars") {
      tokenizer = chars_tokenizer_from_json(json);
    } else {
      throw InputError(fmt::format(
          "kind is {}; it must be bytes or chars, or the file one of Hugging Face's for BPE",
          base::printable(kind)));
    }
  });
  return tokenizer;
}

std::shared_ptr<const Tokenizer> read_tokenizer(const fs::path& file) {
  return tokenizer_from_json(base::read_json(file), file.string());
}

std::shared_ptr<const Tokenizer> read_gpt2_tokenizer(const fs::path& vocab_bpe,
                                                     const fs::path& encoder_json) {
  constexpr std::size_t kLongest = std::size_t{64} << 20;
  const std::string merges = base::read_text(vocab_bpe, kLongest);
  const nlohmann::json encoder = base::read_json(encoder_json);
  std::shared_ptr<const Tokenizer> tokenizer;
  with_source(fmt::format("{} with {}", vocab_bpe.string(), encoder_json.string()), [&] {
    tokenizer = std::make_shared<BpeTokenizer>(vocabulary_from_gpt2(merges, encoder));
  });
  return tokenizer;
}

std::shared_ptr<const Tokenizer> find_tokenizer(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return read_tokenizer(path);
  const fs::path own = path / kTokenizerFile, merges = path / "vocab.bpe";
  if (base::is_there(own)) return read_tokenizer(own);
  if (base::is_there(merges)) return read_gpt2_tokenizer(merges, path / "encoder.json");
  throw InputError(fmt::format("{}: it has neither {} nor vocab.bpe with encoder.json",
                               path.string(), kTokenizerFile));
}

}  // namespace edelta::data
