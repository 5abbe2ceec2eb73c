#include "edelta/base/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/atomic_file.h"
#include "base/input_bytes.h"
#include "base/input_file.h"
#include "base/npy_header.h"
#include "base/npy_prelude.h"
#include "base/tensor_size.h"
#include "edelta/base/error.h"

namespace edelta::base {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "'<f4' and '=f4' are the same here");

torch::ScalarType dtype_of(const NpyHeader& header) {
  return header.type.bytes == 4 ? torch::kFloat : torch::kDouble;
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
  const NpyHeader header = load_npy_header(source, name, NpyElements::floating);
  const auto bytes = base::tensor_bytes(header.shape, header.type.bytes);
  if (!bytes) reject_npy(name, "its shape overflows");
  const std::uint64_t data = source.remaining();
  if (*bytes != data) {
    reject_npy(name, fmt::format("its shape needs {} bytes of data, there are {}", *bytes, data));
  }
  std::vector<std::int64_t> stored = header.shape;
  if (header.fortran_order) std::reverse(stored.begin(), stored.end());
  torch::Tensor tensor = torch::empty(stored, dtype_of(header));
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

std::string npy_prelude(const torch::Tensor& values) {
  const NpyType type{'f', values.scalar_type() == torch::kFloat ? 4 : 8};
  return format_npy_prelude({type, false, false, values.sizes().vec()});
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
