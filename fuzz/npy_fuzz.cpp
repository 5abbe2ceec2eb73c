// Whatever the bytes: a tensor within the memory that their number justifies, or an InputError.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "edelta/base/error.h"
#include "edelta/base/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto tensor =
        edelta::base::parse_npy({reinterpret_cast<const char*>(data), size}, "fuzz.npy");
    if (tensor.nbytes() > size) std::abort();
  } catch (const edelta::InputError&) {
  }
  return 0;
}
