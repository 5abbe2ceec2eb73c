// Byte-level BPE in the files of others: Hugging Face's tokenizer.json, which is also what we
// write, and GPT-2's vocab.bpe with encoder.json.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "data/tokenizers/bpe.h"

namespace edelta::data {

// Whether it is meant to be a tokenizer.json of this kind.
bool is_hugging_face(const nlohmann::json& json);

nlohmann::ordered_json hugging_face_json(const BpeVocabulary& vocabulary);
// InputErrors name the key; what would be encoded in another way than by bytes, GPT-2's words and
// merges is refused.
BpeVocabulary vocabulary_from_hugging_face(const nlohmann::json& json);

// `vocab_bpe` has a merge a line; `encoder` gives each token its number.
BpeVocabulary vocabulary_from_gpt2(std::string_view vocab_bpe, const nlohmann::json& encoder);

}  // namespace edelta::data
