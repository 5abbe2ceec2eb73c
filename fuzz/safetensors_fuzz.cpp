// Whatever the bytes: a valid file or an InputError, within the memory that its size justifies.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "edelta/base/error.h"
#include "edelta/base/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto file = edelta::base::parse_safetensors({reinterpret_cast<const char*>(data), size},
                                                      "fuzz.safetensors");
    std::size_t bytes = 0;
    for (const auto& [name, tensor] : file.tensors) bytes += tensor.nbytes();
    if (bytes > size) std::abort();
  } catch (const edelta::InputError&) {
  }
  return 0;
}
