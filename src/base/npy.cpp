#include "edelta/base/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/atomic_file.h"
#include "base/input_bytes.h"
#include "base/input_file.h"
#include "base/npy_header.h"
#include "base/tensor_size.h"
#include "edelta/base/error.h"

namespace edelta::base {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "'<f4' and '=f4' are the same here");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kPreludeBytes = 8;  // magic, major and minor version
constexpr std::uint32_t kMaximumHeaderBytes = 1 << 16;

template <class Source>
std::uint32_t read_header_length(Source& source, const std::string& name) {
  char prelude[kPreludeBytes];
  if (source.remaining() < kPreludeBytes) reject_npy(name, "it is shorter than 8 bytes");
  source.read(prelude, kPreludeBytes);
  if (std::string_view(prelude, kMagic.size()) != kMagic) {
    reject_npy(name, "it does not start with \\x93NUMPY");
  }
  const auto major = static_cast<unsigned char>(prelude[6]);
  if (major < 1 || major > 3 || prelude[7] != 0) {
    reject_npy(name, fmt::format("version {}.{} is unknown", major,
                                 static_cast<unsigned char>(prelude[7])));
  }
  std::uint32_t length = 0;
  const std::size_t bytes = major == 1 ? 2 : 4;
  if (source.remaining() < bytes) reject_npy(name, "it ends before its header");
  source.read(&length, bytes);
  if (length > source.remaining() || length > kMaximumHeaderBytes) {
    reject_npy(name, fmt::format("the header of {} bytes exceeds {}", length,
                                 length > source.remaining() ? "the file" : "any that is needed"));
  }
  return length;
}

template <class Source>
NpyHeader load_header(Source& source, const std::string& name) {
  const std::uint32_t length = read_header_length(source, name);
  std::string text(length, '\0');
  source.read(text.data(), length);
  return parse_npy_header(text, name);
}

void swap_bytes(torch::Tensor& tensor) {
  auto* bytes = static_cast<char*>(tensor.data_ptr());
  const std::size_t size = tensor.element_size();
  for (char* end = bytes + tensor.nbytes(); bytes != end; bytes += size) {
    std::reverse(bytes, bytes + size);
  }
}

template <class Source>
torch::Tensor load(Source& source, const std::string& name) {
  const NpyHeader header = load_header(source, name);
  const auto bytes = base::tensor_bytes(header.shape, c10::elementSize(header.dtype));
  if (!bytes) reject_npy(name, "its shape overflows");
  const std::uint64_t data = source.remaining();
  if (*bytes != data) {
    reject_npy(name, fmt::format("its shape needs {} bytes of data, there are {}", *bytes, data));
  }
  std::vector<std::int64_t> stored = header.shape;
  if (header.fortran_order) std::reverse(stored.begin(), stored.end());
  torch::Tensor tensor = torch::empty(stored, header.dtype);
  source.read(tensor.data_ptr(), data);
  if (header.big_endian) swap_bytes(tensor);
  if (!header.fortran_order) return tensor;
  std::vector<std::int64_t> reversed(stored.size());
  for (std::size_t i = 0; i < stored.size(); ++i) reversed[i] = stored.size() - 1 - i;
  return tensor.permute(reversed).contiguous();
}

torch::Tensor writable(const torch::Tensor& tensor, const std::string& name) {
  torch::Tensor values = tensor.detach().cpu().contiguous();
  if (values.scalar_type() != torch::kFloat && values.scalar_type() != torch::kDouble) {
    throw InputError(fmt::format("cannot write {}: {} is neither float32 nor float64", name,
                                 c10::toString(values.scalar_type())));
  }
  return values;
}

// Everything before the data. Version 1.0; the data starts on a 64-byte boundary, as NumPy's does.
std::string npy_prelude(const torch::Tensor& values) {
  std::string text = format_npy_header({values.scalar_type(), false, false, values.sizes().vec()});
  constexpr std::size_t kAlignment = 64;
  const std::size_t used = kPreludeBytes + 2 + text.size() + 1;
  text.append((kAlignment - used % kAlignment) % kAlignment, ' ').append("\n");
  const auto length = static_cast<std::uint16_t>(text.size());
  std::string prelude(kMagic);
  prelude.append("\1\0", 2).append(reinterpret_cast<const char*>(&length), sizeof length);
  return prelude + text;
}

}  // namespace

torch::Tensor read_npy(const std::filesystem::path& path) {
  base::InputFile file(path);
  return load(file, path.string());
}

torch::Tensor parse_npy(std::string_view bytes, const std::string& source) {
  base::InputBytes input(bytes);
  return load(input, source);
}

std::string format_npy(const torch::Tensor& tensor) {
  const torch::Tensor values = writable(tensor, "an array");
  std::string bytes = npy_prelude(values);
  bytes.append(static_cast<const char*>(values.data_ptr()), values.nbytes());
  return bytes;
}

void write_npy(const std::filesystem::path& path, const torch::Tensor& tensor) {
  const torch::Tensor values = writable(tensor, path.string());
  const std::string prelude = npy_prelude(values);
  base::AtomicFile file(path);
  file.write(prelude.data(), prelude.size());
  file.write(values.data_ptr(), values.nbytes());
  file.commit();
}

}  // namespace edelta::base
