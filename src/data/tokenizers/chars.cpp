// The tokenizer `chars`: a token for each Unicode character that the text has.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "base/required_fields.h"
#include "base/utf8.h"
#include "data/tokenizers/kinds.h"
#include "edelta/base/error.h"

namespace edelta::data {
namespace {

constexpr std::int32_t kNone = -1;

class CharsTokenizer : public Tokenizer {
 public:
  explicit CharsTokenizer(std::span<const std::uint32_t> characters) {
    if (characters.empty()) throw InputError("characters is empty; there must be at least one");
    for (const std::uint32_t character : characters) add(character);
  }

  std::string kind() const override { return "chars"; }
  std::int64_t vocab_size() const override { return static_cast<std::int64_t>(ends_.size()); }

  std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> tokens;
    tokens.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
      const base::Character character = base::first_character(text.substr(at));
      const std::int32_t token = character.valid ? token_of(character.code_point) : kNone;
      if (token == kNone) refuse(text, at, character);
      tokens.push_back(token);
      at += character.bytes;
    }
    return tokens;
  }

  std::string_view bytes_of(std::int32_t token) const override {
    const std::size_t begin = token == 0 ? 0 : ends_[token - 1];
    return std::string_view(bytes_).substr(begin, ends_[token] - begin);
  }

  nlohmann::ordered_json to_json() const override {
    return {{"kind", kind()}, {"characters", bytes_}};
  }

  std::size_t complete_prefix(std::string_view text) const override {
    return base::whole_characters(text);
  }

 private:
  void add(std::uint32_t character) {
    const std::string bytes = base::utf8_of(character);
    if (bytes.empty()) {
      throw InputError(fmt::format("characters: U+{:04X} is no Unicode character", character));
    }
    if (token_of(character) != kNone) {
      throw InputError(fmt::format("characters: {} occurs twice", base::printable(bytes)));
    }
    if (character >= tokens_.size()) tokens_.resize(character + 1, kNone);
    tokens_[character] = static_cast<std::int32_t>(ends_.size());
    bytes_ += bytes;
    ends_.push_back(bytes_.size());
  }

  std::int32_t token_of(std::uint32_t character) const {
    return character < tokens_.size() ? tokens_[character] : kNone;
  }

  [[noreturn]] static void refuse(std::string_view text, std::size_t at,
                                  const base::Character& character) {
    if (!character.valid) {
      throw InputError(fmt::format("byte {} is 0x{:02x}, which is not UTF-8 there", at,
                                   static_cast<unsigned char>(text[at])));
    }
    throw InputError(fmt::format("byte {}: the vocabulary has no {}", at,
                                 base::printable(text.substr(at, character.bytes))));
  }

  std::vector<std::int32_t> tokens_;  // by code point, up to the largest
  std::string bytes_;                 // the characters, one after another
  std::vector<std::size_t> ends_;     // of each
};

}  // namespace

std::shared_ptr<const Tokenizer> make_chars_tokenizer(std::span<const std::uint32_t> characters) {
  return std::make_shared<CharsTokenizer>(characters);
}

std::shared_ptr<const Tokenizer> chars_tokenizer_from_json(const nlohmann::json& json) {
  const auto text = base::required<std::string>(json, "characters");
  std::vector<std::uint32_t> characters;
  for (std::string_view rest = text; !rest.empty();) {
    const base::Character character = base::first_character(rest);
    if (!character.valid) throw InputError("characters is not UTF-8");
    characters.push_back(character.code_point);
    rest.remove_prefix(character.bytes);
  }
  return make_chars_tokenizer(characters);
}

}  // namespace edelta::data
