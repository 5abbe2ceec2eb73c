// From text files to a token folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "edelta/data/identity.h"
#include "edelta/data/tokenizer.h"

namespace edelta::data {

struct TextOptions {
  std::string tokenizer = "bytes";  // one of tokenizer_names(): learnt from the text …
  std::int64_t vocab = 1024;        // … with at most so many tokens, if it is bpe
  std::shared_ptr<const Tokenizer> made = nullptr;  // if given, used instead of both
  double val = 0.1;  // the share of the text, its end, that is for validation
};

// What is being done, and how much of it is.
struct TextProgress {
  enum class Stage { reading, merging, encoding } stage = Stage::reading;
  std::int64_t done = 0, all = 0;  // bytes; tokens of the vocabulary when merging
  std::int64_t tokens = 0;         // encoded so far
};

// Of one split.
struct SplitSize {
  std::int64_t tokens = 0;
  std::int64_t bytes = 0;  // of its text
};

// The content of text.json.
struct TextInfo {
  std::string tokenizer;
  std::int64_t vocab_size = 0;
  SplitSize train, val;
  Identity files;  // train.bin, val.bin, tokenizer.json
  // How it was made, for the reader of the file.
  nlohmann::ordered_json options = nlohmann::ordered_json::object();
  nlohmann::ordered_json source = nlohmann::ordered_json::object();
};

// The files themselves, and those in folders, at any depth, sorted by path; what begins with a dot
// is left out there. InputError for what is not there or is neither.
std::vector<std::filesystem::path> text_files(const std::vector<std::filesystem::path>& given);

// Writes train.bin, val.bin, tokenizer.json and text.json: a folder that appears whole or not at
// all. The files are one text, one after another, of which the first 1 − val are for training:
// characters with `chars`, else bytes, whole characters with `bpe`. They are read piece by piece,
// more than once; memory is needed for the vocabulary alone. `on_progress` may throw to stop.
// InputError where the folder is there and not empty, unless `replace` is set and it holds nothing
// but such files.
TextInfo write_token_folder(const std::filesystem::path& folder,
                            const std::vector<std::filesystem::path>& files,
                            const TextOptions& options, bool replace = false,
                            const std::function<void(const TextProgress&)>& on_progress = {});
// The check of the folder, before any work is done.
void require_free_token_folder(const std::filesystem::path& folder, bool replace);

}  // namespace edelta::data
