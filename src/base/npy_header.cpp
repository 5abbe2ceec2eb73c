#include "base/npy_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "base/npy_prelude.h"
#include "base/printable.h"
#include "base/tensor_size.h"
#include "edelta/base/error.h"

namespace edelta::base {
namespace {

// Strict: of Python's literals only those that NumPy itself writes,
//   { 'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
// with any spacing, either quote, the keys in any order, and the last commas optional.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& source, NpyElements elements)
      : rest_(text), source_(source), elements_(elements) {}

  NpyHeader parse() {
    expect('{');
    while (!accept('}')) {
      parse_item();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!rest_.empty()) reject("the header goes on after its }");
    for (const char* key : {"descr", "fortran_order", "shape"}) {
      if (!seen_.count(key)) reject(fmt::format("the header has no {}", key));
    }
    return header_;
  }

 private:
  [[noreturn]] void reject(const std::string& reason) const { reject_npy(source_, reason); }

  void skip_space() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) {
      rest_.remove_prefix(1);
    }
  }

  bool accept(char wanted) {
    skip_space();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char wanted) {
    if (accept(wanted)) return;
    reject(fmt::format("the header needs a {} before {}", wanted, base::printable(rest_)));
  }

  bool accept_word(std::string_view word) {
    skip_space();
    if (rest_.substr(0, word.size()) != word) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::string parse_string(const char* what) {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'' && !accept('\'')) {
      reject(fmt::format("the header needs {} in quotes before {}", what, base::printable(rest_)));
    }
    const std::size_t length = rest_.find(quote);
    if (length == std::string_view::npos) reject("a quote in the header has no end");
    const std::string value(rest_.substr(0, length));
    rest_.remove_prefix(length + 1);
    return value;
  }

  void parse_item() {
    const std::string key = parse_string("a key");
    if (!seen_.insert(key).second) reject(fmt::format("{} occurs twice", base::printable(key)));
    expect(':');
    if (key == "descr") {
      parse_descr();
    } else if (key == "fortran_order") {
      header_.fortran_order = accept_word("True");
      if (!header_.fortran_order && !accept_word("False")) {
        reject("fortran_order is neither True nor False");
      }
    } else if (key == "shape") {
      parse_shape();
    } else {
      reject(fmt::format("the header has an unknown key {}", base::printable(key)));
    }
  }

  void parse_descr() {
    const std::string descr = parse_string("the dtype");
    const bool known_order =
        !descr.empty() && std::string_view("<>=|").find(descr[0]) != descr.npos;
    const std::string type = descr.substr(descr.empty() ? 0 : 1);
    const bool floating = elements_ == NpyElements::floating;
    static const std::set<std::string> floats{"f4", "f8"};
    static const std::set<std::string> integers{"u1", "u2", "u4", "i1", "i2", "i4", "i8"};
    if (!known_order || !(floating ? floats : integers).count(type)) {
      reject(fmt::format("its dtype {} is {}", base::printable(descr),
                         floating ? "neither float32 ('<f4') nor float64 ('<f8')"
                                  : "no whole number (such as '|u1', '<i4', '<i8')"));
    }
    header_.big_endian = descr[0] == '>';
    header_.type = {type[0], type[1] - '0'};
  }

  void parse_shape() {
    expect('(');
    bool comma = true;
    while (!accept(')')) {
      if (!comma) expect(',');
      header_.shape.push_back(parse_dimension());
      comma = accept(',');
    }
    if (header_.shape.size() == 1 && !comma) reject("a shape of one dimension needs a comma: (3,)");
  }

  std::int64_t parse_dimension() {
    if (header_.shape.size() == base::kMaximumRank) {
      reject(fmt::format("the shape has more than {} dimensions", base::kMaximumRank));
    }
    skip_space();
    std::size_t digits = 0;
    std::int64_t value = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits) {
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, rest_[digits] - '0', &value)) {
        reject("a dimension of the shape is too large");
      }
    }
    if (digits == 0 || (digits > 1 && rest_.front() == '0')) {
      reject(
          fmt::format("a dimension of the shape is no whole number: {}", base::printable(rest_)));
    }
    rest_.remove_prefix(digits);
    return value;
  }

  std::string_view rest_;
  const std::string& source_;
  NpyElements elements_;
  NpyHeader header_;
  std::set<std::string> seen_;
};

}  // namespace

void reject_npy(const std::string& source, const std::string& reason) {
  throw InputError(fmt::format("{} is not a usable .npy file: {}", source, reason));
}

NpyHeader parse_npy_header(std::string_view text, const std::string& source, NpyElements elements) {
  return HeaderParser(text, source, elements).parse();
}

std::string format_npy_header(const NpyHeader& header) {
  const char order = header.type.bytes == 1 ? '|' : header.big_endian ? '>' : '<';
  return fmt::format("{{'descr': '{}{}{}', 'fortran_order': {}, 'shape': ({}{}), }}", order,
                     header.type.letter, header.type.bytes, header.fortran_order ? "True" : "False",
                     fmt::join(header.shape, ", "), header.shape.size() == 1 ? "," : "");
}

std::string format_npy_prelude(const NpyHeader& header) {
  std::string text = format_npy_header(header);
  constexpr std::size_t kAlignment = 64;
  const std::size_t used = kNpyPreludeBytes + 2 + text.size() + 1;
  text.append((kAlignment - used % kAlignment) % kAlignment, ' ').append("\n");
  const auto length = static_cast<std::uint16_t>(text.size());
  std::string prelude(kNpyMagic);
  prelude.append("\1\0", 2).append(reinterpret_cast<const char*>(&length), sizeof length);
  return prelude + text;
}

}  // namespace edelta::base
