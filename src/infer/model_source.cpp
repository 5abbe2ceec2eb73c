#include "infer/model_source.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/input_file.h"
#include "base/json.h"
#include "data/token_files.h"
#include "edelta/base/error.h"
#include "edelta/models/model_file.h"

namespace edelta::infer {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWeightFile = "model.safetensors";
constexpr const char* kConfigFile = "config.json";

// The folder's tokenizer.json; null where there is none.
std::shared_ptr<const data::Tokenizer> tokenizer_in(const fs::path& folder) {
  const fs::path file = folder / data::kTokenizerFile;
  return base::is_there(file) ? data::read_tokenizer(file) : nullptr;
}

std::shared_ptr<const data::Tokenizer> tokenizer_in(const base::Metadata& metadata,
                                                    const std::string& source) {
  const auto found = metadata.find(kTokenizerKey);
  if (found == metadata.end()) return nullptr;
  return data::tokenizer_from_json(base::parse_json(found->second, source), source);
}

// One file has everything.
ModelSource load_file(const fs::path& path) {
  const base::TensorFile file = base::read_safetensors(path);
  const auto config = models::model_config_from_json(
      base::parse_json(file.metadata_at(models::kConfigKey), file.source), file.source);
  ModelSource source{models::make_model(config), tokenizer_in(file.metadata, file.source)};
  source.notices = models::load_parameters(*source.model, file.tensors, file.source);
  return source;
}

}  // namespace

bool is_exported_model(const fs::path& path) {
  return fs::is_regular_file(path) || fs::is_regular_file(path / kWeightFile);
}

ModelSource load_exported_model(const fs::path& path) {
  if (fs::is_regular_file(path)) return load_file(path);
  // A folder that a file was exported into, rather than one that a run has written.
  if (!base::is_there(path / kConfigFile)) return load_file(path / kWeightFile);
  models::LoadedModel loaded = models::load_model(path);
  auto tokenizer = tokenizer_in(path);
  if (!tokenizer) tokenizer = tokenizer_in(loaded.metadata, (path / kWeightFile).string());
  return {std::move(loaded.model), std::move(tokenizer), std::move(loaded.notices)};
}

std::vector<int32_t> beginning(const data::Tokenizer* tokenizer) {
  if (tokenizer == nullptr) return {0};
  try {
    return tokenizer->encode("\n");
  } catch (const InputError&) {
    return {0};
  }
}

void require_same_vocabulary(const ModelSource& source, const std::string& name) {
  if (!source.tokenizer) return;
  const int64_t known = source.tokenizer->vocab_size();
  const int64_t modelled = source.model->config().vocab_size;
  if (known <= modelled) return;  // a padded vocabulary has tokens without a text
  throw InputError(
      fmt::format("{}: the tokenizer has {} tokens, the model {}", name, known, modelled));
}

}  // namespace edelta::infer
