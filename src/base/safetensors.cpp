#include "edelta/base/safetensors.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

#include "base/atomic_file.h"
#include "base/checksum.h"
#include "base/input_bytes.h"
#include "base/input_file.h"
#include "base/printable.h"
#include "base/safetensors_header.h"
#include "edelta/base/error.h"

namespace edelta::base {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "data is copied as it is in the file");

// A bool that is neither 0 nor 1 is undefined behaviour wherever it is used.
bool holds_truth_values(const torch::Tensor& tensor) {
  const auto* bytes = static_cast<const unsigned char*>(tensor.data_ptr());
  return std::all_of(bytes, bytes + tensor.numel(), [](unsigned char byte) { return byte <= 1; });
}

constexpr const char* kChecksumKey = "checksum";
// Checkpoints of version 0.1.0 have another kind, half as long.
constexpr std::size_t kChecksumDigits = 32;

// Of everything that a file says, but for the checksum itself.
std::string checksum_of(const TensorMap& tensors, const Metadata& metadata) {
  Checksum sum;
  for (const auto& [key, value] : metadata) {
    sum.add_text(key);
    sum.add_text(value);
  }
  for (const auto& [name, tensor] : tensors) {
    const torch::Tensor values = tensor.detach().cpu().contiguous();
    sum.add_text(name);
    sum.add_text(c10::toString(values.scalar_type()));
    sum.add(values.sizes().data(), values.sizes().size() * sizeof(std::int64_t));
    sum.add(values.data_ptr(), values.nbytes());
  }
  return sum.text();
}

template <class Source>
SafetensorsHeader load_header(Source& source, const std::string& name) {
  std::uint64_t length = 0;
  if (source.remaining() < sizeof length) reject_safetensors(name, "it is shorter than 8 bytes");
  source.read(&length, sizeof length);
  if (length > kMaximumHeaderBytes) {
    reject_safetensors(name, fmt::format("the header of {} bytes exceeds the limit of {}", length,
                                         kMaximumHeaderBytes));
  }
  if (length > source.remaining()) {
    reject_safetensors(name, fmt::format("the header of {} bytes exceeds the file", length));
  }
  std::string json(length, '\0');
  source.read(json.data(), length);
  return parse_header(json, source.remaining(), name);
}

// Takes the checksum out of the metadata; InputError where it differs.
void check(TensorFile& file) {
  const auto found = file.metadata.extract(kChecksumKey);
  if (!found || found.mapped().size() != kChecksumDigits) return;
  if (found.mapped() != checksum_of(file.tensors, file.metadata)) {
    throw InputError(fmt::format("{} is damaged: its checksum differs", file.source));
  }
  file.checked = true;
}

template <class Source>
TensorFile load(Source& source, const std::string& name) {
  SafetensorsHeader header = load_header(source, name);
  TensorFile file{name, std::move(header.metadata), {}};
  for (HeaderEntry& entry : header.entries) {
    torch::Tensor tensor = torch::empty(entry.shape, entry.dtype);
    source.read(tensor.data_ptr(), entry.end - entry.begin);
    if (entry.dtype == torch::kBool && !holds_truth_values(tensor)) {
      reject_safetensors(name, fmt::format("tensor {} of dtype BOOL has bytes other than 0 and 1",
                                           printable(entry.name)));
    }
    file.tensors.emplace(std::move(entry.name), std::move(tensor));
  }
  check(file);
  return file;
}

SafetensorsHeader lay_out(const TensorMap& tensors, const Metadata& metadata) {
  SafetensorsHeader header{metadata, {}};
  for (const auto& [name, tensor] : tensors) {
    if (name == "__metadata__" || !has_safetensors_dtype(tensor.scalar_type())) {
      throw InputError(fmt::format("tensor {} of type {} cannot be stored as safetensors",
                                   printable(name), c10::toString(tensor.scalar_type())));
    }
    header.entries.push_back(
        {name, tensor.scalar_type(), tensor.sizes().vec(), 0, tensor.nbytes()});
  }
  std::stable_sort(header.entries.begin(), header.entries.end(),
                   [](const HeaderEntry& a, const HeaderEntry& b) {
                     return c10::elementSize(a.dtype) > c10::elementSize(b.dtype);
                   });
  std::uint64_t offset = 0;
  for (HeaderEntry& entry : header.entries) {
    entry.begin += offset;
    entry.end += offset;
    offset = entry.end;
  }
  return header;
}

template <class Map>
const typename Map::mapped_type& find(const Map& map, const std::string& key, const char* kind,
                                      const std::string& source) {
  const auto found = map.find(key);
  if (found == map.end()) {
    throw InputError(fmt::format("{} has no {} {}", source, kind, printable(key)));
  }
  return found->second;
}

}  // namespace

const torch::Tensor& TensorFile::tensor(const std::string& name) const {
  return find(tensors, name, "tensor", source);
}

const std::string& TensorFile::metadata_at(const std::string& key) const {
  return find(metadata, key, "metadata entry", source);
}

TensorFile read_safetensors(const std::filesystem::path& path) {
  InputFile file(path);
  return load(file, path.string());
}

TensorFile read_safetensors_metadata(const std::filesystem::path& path) {
  InputFile file(path);
  return {path.string(), load_header(file, path.string()).metadata, {}};
}

TensorFile parse_safetensors(std::string_view bytes, const std::string& source) {
  InputBytes input(bytes);
  return load(input, source);
}

void write_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                       const Metadata& metadata) {
  Metadata sealed = metadata;
  sealed[kChecksumKey] = checksum_of(tensors, metadata);
  const SafetensorsHeader header = lay_out(tensors, sealed);
  const std::string json = format_header(header);
  const std::uint64_t length = json.size();
  AtomicFile file(path);
  file.write(&length, sizeof length);
  file.write(json.data(), json.size());
  for (const HeaderEntry& entry : header.entries) {
    const torch::Tensor tensor = tensors.at(entry.name).detach().cpu().contiguous();
    file.write(tensor.data_ptr(), tensor.nbytes());
  }
  file.commit();
}

}  // namespace edelta::base
