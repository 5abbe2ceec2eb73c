// Text as numbers and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace edelta::data {

// Every tokenizer gives back exactly the bytes that it encoded.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  virtual std::string kind() const = 0;  // one of tokenizer_names()
  virtual std::int64_t vocab_size() const = 0;
  // InputError with the offset of what it has no token for.
  virtual std::vector<std::int32_t> encode(std::string_view text) const = 0;
  // What a token from 0 to vocab_size() − 1 stands for; as long as the tokenizer is there.
  virtual std::string_view bytes_of(std::int32_t token) const = 0;
  virtual nlohmann::ordered_json to_json() const = 0;  // the content of tokenizer.json

  // For text that comes in pieces: how much of `text`, at most, can be encoded by itself with the
  // same tokens as within a longer text that begins with it. The rest waits for what follows.
  virtual std::size_t complete_prefix(std::string_view text) const { return text.size(); }

  std::string decode(std::span<const std::int32_t> tokens) const;
};

// bytes, chars, bpe.
const std::vector<std::string>& tokenizer_names();

// 256 tokens: token i is byte i.
std::shared_ptr<const Tokenizer> make_bytes_tokenizer();
// One token for each of these Unicode characters, in their order; InputError for one that occurs
// twice or is none.
std::shared_ptr<const Tokenizer> make_chars_tokenizer(std::span<const std::uint32_t> characters);

// What to_json() gave, or a byte-level BPE of Hugging Face's format, which is the one that `bpe`
// has too. InputError with the name of its source.
std::shared_ptr<const Tokenizer> tokenizer_from_json(const nlohmann::json& json,
                                                     const std::string& source);
std::shared_ptr<const Tokenizer> read_tokenizer(const std::filesystem::path& file);
// GPT-2's two files.
std::shared_ptr<const Tokenizer> read_gpt2_tokenizer(const std::filesystem::path& vocab_bpe,
                                                     const std::filesystem::path& encoder_json);
// A tokenizer.json, or a folder that has one, or that has vocab.bpe and encoder.json.
std::shared_ptr<const Tokenizer> find_tokenizer(const std::filesystem::path& path);

}  // namespace edelta::data
