#include "data/text_info.h"

#include <fmt/format.h>

#include <limits>

#include "base/json.h"
#include "base/required_fields.h"
#include "data/token_files.h"

namespace edelta::data {
namespace {

constexpr int kFormat = 1;

nlohmann::ordered_json to_json(const SplitSize& split) {
  return {{"tokens", split.tokens}, {"bytes", split.bytes}};
}

SplitSize split_from_json(const nlohmann::json& json, const char* key) {
  const nlohmann::json& split = base::required_entry(json, key);
  const SplitSize size{base::required<std::int64_t>(split, "tokens"),
                       base::required<std::int64_t>(split, "bytes")};
  if (size.tokens < 0 || size.bytes < 0) {
    throw InputError(fmt::format("{} has a negative size", key));
  }
  return size;
}

}  // namespace

nlohmann::ordered_json text_info_to_json(const TextInfo& info) {
  return base::sealed({{"format", kFormat},
                       {"tokenizer", info.tokenizer},
                       {"vocab_size", info.vocab_size},
                       {"token_bytes", token_bytes_for(info.vocab_size)},
                       {"train", to_json(info.train)},
                       {"val", to_json(info.val)},
                       {"options", info.options},
                       {"source", info.source},
                       {"files", identity_to_json(info.files)}});
}

TextInfo text_info_from_json(const nlohmann::json& json, const std::string& source) {
  base::require_seal(json, source);
  TextInfo info;
  with_source(source, [&] {
    const auto format = base::required<std::int64_t>(json, "format");
    if (format != kFormat) {
      throw InputError(fmt::format("format is {}; this version reads {}", format, kFormat));
    }
    info.tokenizer = base::required<std::string>(json, "tokenizer");
    info.vocab_size = base::required<std::int64_t>(json, "vocab_size");
    if (info.vocab_size < 1 || info.vocab_size > std::numeric_limits<std::int32_t>::max()) {
      throw InputError(fmt::format("vocab_size is {}; that is no vocabulary", info.vocab_size));
    }
    if (base::required<int>(json, "token_bytes") != token_bytes_for(info.vocab_size)) {
      throw InputError("token_bytes does not fit vocab_size");
    }
    info.train = split_from_json(json, "train");
    info.val = split_from_json(json, "val");
    info.files = identity_from_json(base::required_entry(json, "files"), "files");
    for (const char* name : {kTrainTokens, kValTokens, kTokenizerFile}) {
      if (!info.files.contains(name)) throw InputError(fmt::format("files has no {}", name));
    }
  });
  return info;
}

}  // namespace edelta::data
