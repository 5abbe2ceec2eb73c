#include "base/checksum.h"

#define XXH_INLINE_ALL  // no library to link
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

#include "base/input_file.h"

namespace edelta::base {

struct Checksum::State {
  XXH3_state_t value;
};

Checksum::Checksum() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->value); }
Checksum::~Checksum() = default;

void Checksum::add(const void* data, std::size_t bytes) {
  if (bytes > 0) XXH3_128bits_update(&state_->value, data, bytes);
}

void Checksum::add_text(std::string_view text) {
  const std::uint64_t size = text.size();
  add(&size, sizeof size);
  add(text.data(), text.size());
}

std::string Checksum::text() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(&state_->value);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string checksum_of(std::string_view text) {
  Checksum sum;
  sum.add(text.data(), text.size());
  return sum.text();
}

std::string checksum_of_file(const std::filesystem::path& path) {
  InputFile file(path);
  std::vector<char> buffer(std::size_t{1} << 20);
  Checksum sum;
  while (file.remaining() > 0) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), file.remaining()));
    file.read(buffer.data(), count);
    sum.add(buffer.data(), count);
  }
  return sum.text();
}

}  // namespace edelta::base
