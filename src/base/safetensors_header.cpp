#include "base/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/printable.h"
#include "base/tensor_size.h"
#include "edelta/base/error.h"

namespace edelta::base {
namespace {

constexpr std::string_view kMetadataKey = "__metadata__";

struct DtypeName {
  std::string_view name;
  torch::ScalarType type;
};

constexpr std::array<DtypeName, 10> kDtypes{{{"F16", torch::kHalf},
                                             {"BF16", torch::kBFloat16},
                                             {"F32", torch::kFloat},
                                             {"F64", torch::kDouble},
                                             {"I8", torch::kChar},
                                             {"U8", torch::kByte},
                                             {"I16", torch::kShort},
                                             {"I32", torch::kInt},
                                             {"I64", torch::kLong},
                                             {"BOOL", torch::kBool}}};

auto find_dtype(torch::ScalarType type) {
  return std::find_if(kDtypes.begin(), kDtypes.end(),
                      [type](const DtypeName& dtype) { return dtype.type == type; });
}

// The parser reports values one by one, so nothing is nested deeper than the format allows, a
// second occurrence of a name is seen, and a number keeps the form in which it was written.
class HeaderParser final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderParser(const std::string& source) : source_(source) {}

  SafetensorsHeader take() { return std::move(header_); }

  bool start_object(std::size_t) override {
    if (place_ == Place::kBefore) {
      place_ = Place::kTop;
    } else if (place_ == Place::kTop) {
      place_ = key_ == kMetadataKey ? Place::kMetadata : Place::kEntry;
      entry_ = {};
      entry_.name = key_;
      fields_.clear();
    } else {
      reject_value("an object");
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::kEntry) finish_entry();
    place_ = place_ == Place::kTop ? Place::kAfter : Place::kTop;
    return true;
  }

  bool start_array(std::size_t) override {
    const bool wanted = place_ == Place::kEntry && (key_ == "shape" || key_ == "data_offsets");
    if (!wanted) reject_value("an array");
    place_ = key_ == "shape" ? Place::kShape : Place::kOffsets;
    return true;
  }

  bool end_array() override {
    place_ = Place::kEntry;
    return true;
  }

  bool key(std::string& name) override {
    key_ = std::move(name);
    std::set<std::string>& seen = place_ == Place::kTop ? names_ : fields_;
    if (!seen.insert(key_).second) reject(fmt::format("{} occurs twice", where()));
    return true;
  }

  bool string(std::string& value) override {
    if (place_ == Place::kMetadata) {
      header_.metadata.emplace(key_, std::move(value));
    } else if (place_ == Place::kEntry && key_ == "dtype") {
      const auto dtype =
          std::find_if(kDtypes.begin(), kDtypes.end(),
                       [&value](const DtypeName& known) { return known.name == value; });
      if (dtype == kDtypes.end()) {
        reject(fmt::format("{}: unknown dtype {}", where(), printable(value)));
      }
      entry_.dtype = dtype->type;
    } else {
      reject_value("a string");
    }
    return true;
  }

  bool number_unsigned(std::uint64_t value) override {
    if (place_ == Place::kShape) {
      if (value > std::numeric_limits<std::int64_t>::max()) {
        reject(fmt::format("{}: the dimension {} is too large", where(), value));
      }
      if (entry_.shape.size() == kMaximumRank) {
        reject(fmt::format("{}: more than {} dimensions", where(), kMaximumRank));
      }
      entry_.shape.push_back(static_cast<std::int64_t>(value));
    } else if (place_ == Place::kOffsets) {
      if (offsets_ == 2) reject(fmt::format("{}: more than two offsets", where()));
      (offsets_++ == 0 ? entry_.begin : entry_.end) = value;
    } else {
      reject_value("a number");
    }
    return true;
  }

  bool number_integer(std::int64_t) override { reject_value("a negative number"); }
  bool number_float(double, const std::string&) override {
    reject_value("a fractional or too large number");
  }
  bool null() override { reject_value("null"); }
  bool boolean(bool) override { reject_value("a truth value"); }
  bool binary(nlohmann::json::binary_t&) override { reject_value("binary data"); }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception&) override {
    reject(fmt::format("the header is not valid JSON in UTF-8 (at its byte {})", position));
  }

 private:
  enum class Place { kBefore, kTop, kMetadata, kEntry, kShape, kOffsets, kAfter };

  std::string where() const {
    switch (place_) {
      case Place::kBefore:
        return "the header";
      case Place::kTop:
        return fmt::format("the entry {}", printable(key_));
      case Place::kMetadata:
        return fmt::format("the metadata entry {}", printable(key_));
      default:
        return fmt::format("{} of tensor {}", printable(key_), printable(entry_.name));
    }
  }

  [[noreturn]] void reject(const std::string& reason) const { reject_safetensors(source_, reason); }

  [[noreturn]] void reject_value(const char* what) const {
    reject(fmt::format("{} cannot be {}", where(), what));
  }

  void finish_entry() {
    const std::string tensor = fmt::format("tensor {}", printable(entry_.name));
    for (const char* field : {"dtype", "shape", "data_offsets"}) {
      if (!fields_.count(field)) reject(fmt::format("{} has no {}", tensor, field));
    }
    if (std::exchange(offsets_, 0) != 2) {
      reject(fmt::format("data_offsets of {} are not two numbers", tensor));
    }
    if (entry_.end < entry_.begin) {
      reject(fmt::format("data_offsets of {} are reversed", tensor));
    }
    const auto bytes = tensor_bytes(entry_.shape, c10::elementSize(entry_.dtype));
    if (!bytes) reject(fmt::format("the shape of {} overflows", tensor));
    if (*bytes != entry_.end - entry_.begin) {
      reject(fmt::format("{} needs {} bytes but its data_offsets span {}", tensor, *bytes,
                         entry_.end - entry_.begin));
    }
    header_.entries.push_back(std::move(entry_));
  }

  const std::string& source_;
  SafetensorsHeader header_;
  Place place_ = Place::kBefore;
  std::string key_;
  HeaderEntry entry_;
  int offsets_ = 0;
  std::set<std::string> names_;
  std::set<std::string> fields_;
};

// The format demands that the data hold nothing but tensors, each byte belonging to one of them.
void check_coverage(const std::vector<HeaderEntry>& entries, std::uint64_t data_bytes,
                    const std::string& source) {
  std::uint64_t covered = 0;
  for (const HeaderEntry& entry : entries) {
    if (entry.end > data_bytes) {
      reject_safetensors(source, fmt::format("tensor {} ends at byte {} of {} bytes of data",
                                             printable(entry.name), entry.end, data_bytes));
    }
    if (entry.begin != covered) {
      reject_safetensors(
          source, fmt::format("tensor {} {}", printable(entry.name),
                              entry.begin < covered ? "overlaps the one before it"
                                                    : "leaves unused bytes before its data"));
    }
    covered = entry.end;
  }
  if (covered != data_bytes) {
    reject_safetensors(source,
                       fmt::format("{} bytes of data belong to no tensor", data_bytes - covered));
  }
}

}  // namespace

void reject_safetensors(const std::string& source, const std::string& reason) {
  throw InputError(fmt::format("{} is not a valid safetensors file: {}", source, reason));
}

bool has_safetensors_dtype(torch::ScalarType type) { return find_dtype(type) != kDtypes.end(); }

SafetensorsHeader parse_header(std::string_view json, std::uint64_t data_bytes,
                               const std::string& source) {
  if (json.empty() || json.front() != '{') {
    reject_safetensors(source, "the header does not start with {");
  }
  HeaderParser parser(source);
  nlohmann::json::sax_parse(json.begin(), json.end(), &parser);
  SafetensorsHeader header = parser.take();
  std::sort(header.entries.begin(), header.entries.end(),
            [](const HeaderEntry& a, const HeaderEntry& b) {
              return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
            });
  check_coverage(header.entries, data_bytes, source);
  return header;
}

std::string format_header(const SafetensorsHeader& header) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!header.metadata.empty()) json[std::string(kMetadataKey)] = header.metadata;
  for (const HeaderEntry& entry : header.entries) {
    json[entry.name] = {{"dtype", find_dtype(entry.dtype)->name},
                        {"shape", entry.shape},
                        {"data_offsets", {entry.begin, entry.end}}};
  }
  std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

}  // namespace edelta::base
