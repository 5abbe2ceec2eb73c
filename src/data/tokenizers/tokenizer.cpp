#include "edelta/data/tokenizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/required_fields.h"
#include "data/tokenizers/kinds.h"
#include "edelta/base/error.h"

namespace edelta::data {

const std::vector<std::string>& tokenizer_names() {
  static const std::vector<std::string> names{"bytes", "chars"};
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
    const auto kind = base::required<std::string>(json, "kind");
    if (kind == "bytes") {
      tokenizer = make_bytes_tokenizer();
    } else if (kind == "chars") {
      tokenizer = chars_tokenizer_from_json(json);
    } else {
      throw InputError(fmt::format("kind is '{}'; it must be one of: {}", kind,
                                   fmt::join(tokenizer_names(), ", ")));
    }
  });
  return tokenizer;
}

std::shared_ptr<const Tokenizer> read_tokenizer(const std::filesystem::path& file) {
  return tokenizer_from_json(base::read_json(file), file.string());
}

}  // namespace edelta::data
