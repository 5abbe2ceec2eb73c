// Whatever the bytes: each tokenizer gives them back, and in two pieces the same tokens.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "edelta/base/error.h"
#include "edelta/data/bpe_trainer.h"

namespace {

using edelta::data::Tokenizer;

void check(const Tokenizer& tokenizer, std::string_view text) {
  const auto whole = tokenizer.encode(text);
  if (tokenizer.decode(whole) != text) std::abort();
  const std::string_view half = text.substr(0, text.size() / 2);
  const std::size_t complete = tokenizer.complete_prefix(half);
  if (complete > half.size()) std::abort();
  auto pieces = tokenizer.encode(text.substr(0, complete));
  const auto rest = tokenizer.encode(text.substr(complete));
  pieces.insert(pieces.end(), rest.begin(), rest.end());
  if (pieces != whole) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(*edelta::data::make_bytes_tokenizer(), text);
  edelta::data::BpeTrainer trainer;
  trainer.add(text.substr(0, size / 2));
  check(*trainer.train(300), text);
  static const auto chars = edelta::data::make_chars_tokenizer(
      std::vector<std::uint32_t>{'\n', ' ', 'a', 'b', 'c', 0xe9, 0x20ac, 0x1d11e});
  try {
    check(*chars, text);
  } catch (const edelta::InputError&) {
  }
  return 0;
}
