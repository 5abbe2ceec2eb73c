// Whatever the bytes of a tokenizer.json, of vocab.bpe and encoder.json (a NUL between them) or of
// text.json: something that works, or an InputError.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/json.h"
#include "data/text_info.h"
#include "data/tokenizers/bpe_files.h"
#include "edelta/base/error.h"

namespace {

using edelta::data::Tokenizer;

void use(const Tokenizer& tokenizer) {
  for (std::int32_t i = 0; i < tokenizer.vocab_size(); ++i) tokenizer.bytes_of(i);
  const auto json = nlohmann::json::parse(tokenizer.to_json().dump());
  if (edelta::data::tokenizer_from_json(json, "again")->to_json() != tokenizer.to_json()) {
    std::abort();
  }
  if (tokenizer.kind() == "chars") return;
  constexpr std::string_view kText = "abab \xff it's";
  if (tokenizer.decode(tokenizer.encode(kText)) != kText) std::abort();
}

template <class Read>
void attempt(const Read& read) {
  try {
    read();
  } catch (const edelta::InputError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  attempt([&] {
    const auto json = edelta::base::parse_json(text, "fuzz.json");
    attempt([&] { use(*edelta::data::tokenizer_from_json(json, "fuzz.json")); });
    attempt([&] {
      if (!json.is_object()) return;
      // With the seal that its maker would give it.
      auto sealed = edelta::base::sealed(nlohmann::ordered_json(json));
      const auto again = nlohmann::json::parse(sealed.dump());
      edelta::data::text_info_from_json(again, "fuzz.json");
    });
  });
  attempt([&] {
    const std::size_t end = text.find('\0');
    if (end == std::string_view::npos) return;
    const auto encoder = edelta::base::parse_json(text.substr(end + 1), "encoder.json");
    use(edelta::data::BpeTokenizer(
        edelta::data::vocabulary_from_gpt2(text.substr(0, end), encoder)));
  });
  return 0;
}
