// Memory, read as InputFile reads a file.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace edelta::base {

// The caller stays within remaining().
class InputBytes {
 public:
  explicit InputBytes(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t remaining() const { return rest_.size(); }
  void read(void* out, std::size_t bytes) {
    if (bytes == 0) return;
    std::memcpy(out, rest_.data(), bytes);
    rest_.remove_prefix(bytes);
  }

 private:
  std::string_view rest_;
};

}  // namespace edelta::base
