// The kinds of tokenizers as their files describe them; InputErrors name the key.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "edelta/data/tokenizer.h"

namespace edelta::data {

std::shared_ptr<const Tokenizer> chars_tokenizer_from_json(const nlohmann::json& json);

}  // namespace edelta::data
