// text.json: what a token folder says of itself.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "edelta/data/text.h"

namespace edelta::data {

// Tokens are 2 bytes wide, as nanoGPT's, unless the vocabulary needs 4.
inline int token_bytes_for(std::int64_t vocab_size) { return vocab_size > 65536 ? 4 : 2; }

// Sealed with a checksum of its own.
nlohmann::ordered_json text_info_to_json(const TextInfo& info);
// InputError that names `source` and what is wrong.
TextInfo text_info_from_json(const nlohmann::json& json, const std::string& source);

}  // namespace edelta::data
