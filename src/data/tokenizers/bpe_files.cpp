#include "data/tokenizers/bpe_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_set>

#include "base/printable.h"
#include "base/required_fields.h"
#include "data/tokenizers/byte_alphabet.h"
#include "edelta/base/error.h"

namespace edelta::data {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// Tokens by their text as the files write it, and merges between them.
class VocabularyReader {
 public:
  // `numbers` maps texts to 0, 1, 2, …; those of added tokens may also stand only in `added`.
  VocabularyReader(const json& numbers, const json& added) {
    if (!numbers.is_object()) throw InputError("vocab must be an object of tokens and numbers");
    limit_ = numbers.size() + added.size();
    for (const json& each : added) read_added(each);
    for (const auto& [text, number] : numbers.items()) {
      const std::size_t token = number_of(text, number);
      if (!is_added_[token]) set(token, text, from_byte_alphabet(text));
      by_text_[text] = static_cast<std::int32_t>(token);
    }
    const auto gap = std::find(is_set_.begin(), is_set_.end(), false);
    if (gap != is_set_.end()) {
      throw InputError(fmt::format("no token has the number {}; they must be 0 to {}",
                                   gap - is_set_.begin(), is_set_.size() - 1));
    }
  }

  void add_merge(const std::string& left, const std::string& right) {
    vocabulary_.merges.push_back({token_of(left), token_of(right), token_of(left + right)});
  }

  BpeVocabulary take() { return std::move(vocabulary_); }

 private:
  // No number can be beyond how many tokens the file has; as unsigned, negative ones are too.
  std::size_t number_of(const std::string& text, const json& number) {
    if (!number.is_number_integer() || number.get<std::uint64_t>() >= limit_) {
      throw InputError(fmt::format("the number of the token {} is {}; it must be from 0 to {}",
                                   base::printable(text), base::printable(number.dump()),
                                   limit_ - 1));
    }
    const auto token = number.get<std::size_t>();
    if (token >= is_set_.size()) {
      is_set_.resize(token + 1, false);
      is_added_.resize(token + 1, false);
      vocabulary_.tokens.resize(token + 1);
    }
    return token;
  }

  void set(std::size_t token, const std::string& text, const std::optional<std::string>& bytes) {
    if (!bytes || bytes->empty()) {
      throw InputError(fmt::format("the token {} is not written in the alphabet of byte-level BPE",
                                   base::printable(text)));
    }
    if (is_set_[token]) throw InputError(fmt::format("two tokens have the number {}", token));
    is_set_[token] = true;
    vocabulary_.tokens[token] = *bytes;
  }

  void read_added(const json& each) {
    const auto text = base::required<std::string>(each, "content");
    const std::size_t token = number_of(text, base::required_entry(each, "id"));
    set(token, text, text);
    is_added_[token] = true;
    const bool special = each.contains("special") && each["special"] == true;
    vocabulary_.added.push_back({static_cast<std::int32_t>(token), special});
  }

  std::int32_t token_of(const std::string& text) const {
    const auto found = by_text_.find(text);
    if (found == by_text_.end()) {
      throw InputError(fmt::format("merges needs the token {}, which the vocabulary has not",
                                   base::printable(text)));
    }
    if (is_added_[found->second]) {
      throw InputError(
          fmt::format("merges needs the token {}, which is an added one", base::printable(text)));
    }
    return found->second;
  }

  std::size_t limit_ = 0;
  std::vector<bool> is_set_, is_added_;
  std::unordered_map<std::string, std::int32_t> by_text_;
  BpeVocabulary vocabulary_;
};

// The two parts of a line such as "Ġ t".
void add_merge_line(VocabularyReader& reader, std::string_view line) {
  const std::size_t space = line.find(' ');
  if (space == 0 || space == std::string_view::npos || space + 1 == line.size() ||
      line.find(' ', space + 1) != std::string_view::npos) {
    throw InputError(
        fmt::format("the merge {} must be two tokens with a space between", base::printable(line)));
  }
  reader.add_merge(std::string(line.substr(0, space)), std::string(line.substr(space + 1)));
}

void add_merge(VocabularyReader& reader, const json& merge) {
  if (merge.is_string()) return add_merge_line(reader, merge.get_ref<const std::string&>());
  if (!merge.is_array() || merge.size() != 2 || !merge[0].is_string() || !merge[1].is_string()) {
    throw InputError("merges must be a list of pairs of tokens");
  }
  reader.add_merge(merge[0].get<std::string>(), merge[1].get<std::string>());
}

// A setting that must have its neutral value: absent, null, or what is given here.
void require_neutral(const json& object, const char* key, const json& neutral) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null() || *found == neutral) return;
  throw InputError(fmt::format("{} is {}; only {} can be used", key, base::printable(found->dump()),
                               neutral.dump()));
}

void require_byte_level(const json& object, const char* key) {
  const json& part = base::required_entry(object, key);
  if (!part.is_object() || part.value("type", json()) != "ByteLevel") {
    throw InputError(fmt::format("{} must be of the type ByteLevel", key));
  }
}

ordered_json byte_level(bool prefix) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", prefix},
          {"trim_offsets", true},
          {"use_regex", true}};
}

}  // namespace

bool is_hugging_face(const json& json) { return json.is_object() && json.contains("model"); }

ordered_json hugging_face_json(const BpeVocabulary& vocabulary) {
  ordered_json added = ordered_json::array();
  std::unordered_set<std::int32_t> is_added;
  for (const auto& [token, special] : vocabulary.added) {
    is_added.insert(token);
    added.push_back({{"id", token},
                     {"content", vocabulary.tokens[token]},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", special}});
  }
  // An ordered object looks for the key at each insertion, which takes too long for so many;
  // appended they are distinct all the same.
  ordered_json::object_t numbers;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    texts.push_back(to_byte_alphabet(vocabulary.tokens[i]));
    if (!is_added.contains(static_cast<std::int32_t>(i))) numbers.emplace_back(texts.back(), i);
  }
  ordered_json merges = ordered_json::array();
  for (const Merge& merge : vocabulary.merges) {
    merges.push_back(texts[merge.left] + ' ' + texts[merge.right]);
  }
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", std::move(added)},
          {"normalizer", nullptr},
          {"pre_tokenizer", byte_level(false)},
          {"post_processor", nullptr},
          {"decoder", byte_level(true)},
          {"model",
           {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", nullptr},
            {"continuing_subword_prefix", nullptr},
            {"end_of_word_suffix", nullptr},
            {"fuse_unk", false},
            {"byte_fallback", false},
            {"vocab", std::move(numbers)},
            {"merges", std::move(merges)}}}};
}

BpeVocabulary vocabulary_from_hugging_face(const json& json) {
  require_neutral(json, "normalizer", nullptr);
  require_byte_level(json, "pre_tokenizer");
  require_byte_level(json, "decoder");
  require_neutral(json["pre_tokenizer"], "add_prefix_space", false);
  require_neutral(json["pre_tokenizer"], "use_regex", true);
  const nlohmann::json& model = base::required_entry(json, "model");
  // Files of before 2021 do not name a type; what a BPE has is asked for below.
  if (model.is_object() && model.contains("type") &&
      base::required<std::string>(model, "type") != "BPE") {
    throw InputError("the type of model must be BPE");
  }
  require_neutral(model, "dropout", 0);
  require_neutral(model, "continuing_subword_prefix", "");
  require_neutral(model, "end_of_word_suffix", "");
  require_neutral(model, "byte_fallback", false);
  require_neutral(model, "ignore_merges", false);
  const auto added = json.find("added_tokens");
  const bool none = added == json.end() || added->is_null();
  if (!none && !added->is_array()) throw InputError("added_tokens must be a list");
  VocabularyReader reader(base::required_entry(model, "vocab"),
                          none ? nlohmann::json::array() : *added);
  for (const nlohmann::json& merge : base::required_list(model, "merges")) {
    add_merge(reader, merge);
  }
  return reader.take();
}

BpeVocabulary vocabulary_from_gpt2(std::string_view vocab_bpe, const json& encoder) {
  VocabularyReader reader(encoder, json::array());
  bool first = true;
  while (!vocab_bpe.empty()) {
    const std::size_t end = std::min(vocab_bpe.find('\n'), vocab_bpe.size());
    std::string_view line = vocab_bpe.substr(0, end);
    vocab_bpe.remove_prefix(std::min(end + 1, vocab_bpe.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool version = first && line.starts_with("#version");
    if (!line.empty() && !version) add_merge_line(reader, line);
    first = false;
  }
  return reader.take();
}

nlohmann::ordered_json BpeTokenizer::to_json() const { return hugging_face_json(vocabulary_); }

}  // namespace edelta::data
