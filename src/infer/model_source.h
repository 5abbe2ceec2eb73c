// Where a model that generates comes from, besides a run folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "edelta/data/tokenizer.h"
#include "edelta/models/model.h"

namespace edelta::infer {

// The key under which the metadata of an exported model holds its tokenizer, as JSON.
inline constexpr const char* kTokenizerKey = "tokenizer";

struct ModelSource {
  std::shared_ptr<models::Model> model;
  std::shared_ptr<const data::Tokenizer> tokenizer;  // null: tokens are numbers
  std::vector<std::string> notices = {};
};

// Whether this is an exported model: a safetensors file, or a folder that has model.safetensors.
bool is_exported_model(const std::filesystem::path& path);
ModelSource load_exported_model(const std::filesystem::path& path);

// Where a text begins that has no prompt: after a new line, or, where there is none, with token 0.
std::vector<int32_t> beginning(const data::Tokenizer* tokenizer);

// InputError where it knows more tokens than the model.
void require_same_vocabulary(const ModelSource& source, const std::string& name);

}  // namespace edelta::infer
