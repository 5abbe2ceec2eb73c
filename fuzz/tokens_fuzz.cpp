// Whatever the bytes of a train.bin: tokens below the vocabulary, or an InputError.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "edelta/base/error.h"
#include "edelta/data/tokens.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  namespace fs = std::filesystem;
  static const fs::path path =
      fs::temp_directory_path() / ("edelta-tokens-fuzz." + std::to_string(::getpid()));
  edelta::base::write_text_atomically(path, {reinterpret_cast<const char*>(data + 1), size - 1});
  const int token_bytes = data[0] % 2 == 0 ? 2 : 4;
  const std::int64_t vocab = (data[0] >> 1) * 600 + 1;
  try {
    const edelta::data::TokenFile file(path, token_bytes);
    file.check(vocab);
    std::vector<std::int64_t> tokens(static_cast<std::size_t>(file.size()));
    file.copy(0, file.size(), tokens.data());
    for (const std::int64_t token : tokens) {
      if (token < 0 || token >= vocab) std::abort();
    }
  } catch (const edelta::InputError&) {
  }
  fs::remove(path);
  return 0;
}
