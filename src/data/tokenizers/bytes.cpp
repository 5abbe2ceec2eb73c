// The tokenizer `bytes`: any text, any file, and nothing to learn.
#include <array>
#include <nlohmann/json.hpp>

#include "edelta/data/tokenizer.h"

namespace edelta::data {
namespace {

constexpr std::int64_t kBytes = 256;

class BytesTokenizer : public Tokenizer {
 public:
  BytesTokenizer() {
    for (std::size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<char>(i);
  }

  std::string kind() const override { return "bytes"; }
  std::int64_t vocab_size() const override { return kBytes; }

  std::vector<std::int32_t> encode(std::string_view text) const override {
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    return {bytes, bytes + text.size()};
  }

  std::string_view bytes_of(std::int32_t token) const override {
    return {bytes_.data() + token, 1};
  }

  nlohmann::ordered_json to_json() const override { return {{"kind", kind()}}; }

 private:
  std::array<char, kBytes> bytes_;
};

}  // namespace

std::shared_ptr<const Tokenizer> make_bytes_tokenizer() {
  return std::make_shared<BytesTokenizer>();
}

}  // namespace edelta::data
