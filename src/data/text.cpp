#include "edelta/data/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/atomic_file.h"
#include "base/atomic_folder.h"
#include "base/checksum.h"
#include "base/json.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "data/text_info.h"
#include "data/text_reader.h"
#include "data/token_files.h"
#include "edelta/base/error.h"
#include "edelta/data/bpe_trainer.h"

namespace edelta::data {
namespace {

namespace fs = std::filesystem;
using Stage = TextProgress::Stage;
using OnProgress = std::function<void(const TextProgress&)>;

void check(const TextOptions& options) {
  const auto& names = tokenizer_names();
  if (std::find(names.begin(), names.end(), options.tokenizer) == names.end()) {
    throw InputError(fmt::format("tokenizer is '{}'; it must be one of: {}", options.tokenizer,
                                 fmt::join(names, ", ")));
  }
  if (!(options.val > 0 && options.val < 1)) {
    throw InputError(fmt::format("val is {}; it must be between 0 and 1", options.val));
  }
}

// The whole text in pieces, with word of how far it is.
void read_all(const TextSource& source,
              const std::function<std::size_t(std::string_view)>& complete,
              const OnProgress& on_progress, const std::function<void(std::string_view)>& use) {
  const auto all = static_cast<std::int64_t>(source.bytes());
  std::int64_t done = 0;
  TextReader(source).read(source.bytes(), complete, [&](std::string_view piece) {
    use(piece);
    done += static_cast<std::int64_t>(piece.size());
    if (on_progress) on_progress({.stage = Stage::reading, .done = done, .all = all});
  });
}

[[noreturn]] void refuse_byte(const TextSource& source, std::uint64_t offset, char byte) {
  const TextSource::File& file = source.file_at(offset);
  throw InputError(fmt::format(
      "{}: byte {} is 0x{:02x}, which is not UTF-8 there; the tokenizers bytes and bpe take any",
      file.path.string(), offset - file.begin, static_cast<unsigned char>(byte)));
}

[[noreturn]] void refuse_character(const TextSource& source, std::uint64_t offset,
                                   std::string_view character) {
  const TextSource::File& file = source.file_at(offset);
  throw InputError(fmt::format("{}: byte {}: the tokenizer's vocabulary has no {}",
                               file.path.string(), offset - file.begin,
                               base::printable(character)));
}

// What a text is made of.
struct Characters {
  std::vector<std::uint32_t> different;  // by code point
  std::uint64_t count = 0;
};

constexpr std::size_t kCodePoints = 0x110000;

// The characters that a tokenizer by characters knows, by code point.
std::vector<bool> known_characters(const Tokenizer& tokenizer) {
  std::vector<bool> known(kCodePoints, false);
  for (std::int32_t token = 0; token < tokenizer.vocab_size(); ++token) {
    known[base::first_character(tokenizer.bytes_of(token)).code_point] = true;
  }
  return known;
}

// InputError where the text is not UTF-8, or, with a tokenizer, has a character that it lacks.
Characters characters_of(const TextSource& source, const Tokenizer* tokenizer,
                         const OnProgress& on_progress) {
  const std::vector<bool> known =
      tokenizer != nullptr ? known_characters(*tokenizer) : std::vector<bool>(kCodePoints, true);
  std::vector<bool> seen(kCodePoints, false);
  Characters characters;
  std::uint64_t offset = 0;
  read_all(source, base::whole_characters, on_progress, [&](std::string_view piece) {
    for (std::size_t at = 0; at < piece.size(); ++characters.count) {
      const base::Character character = base::first_character(piece.substr(at));
      if (!character.valid) refuse_byte(source, offset + at, piece[at]);
      if (!known[character.code_point]) {
        refuse_character(source, offset + at, piece.substr(at, character.bytes));
      }
      seen[character.code_point] = true;
      at += character.bytes;
    }
    offset += piece.size();
  });
  for (std::uint32_t point = 0; point < seen.size(); ++point) {
    if (seen[point]) characters.different.push_back(point);
  }
  return characters;
}

// The byte at which character number `index` begins.
std::uint64_t byte_of_character(const TextSource& source, std::uint64_t index) {
  std::uint64_t bytes = 0;
  TextReader(source).read(source.bytes(), base::whole_characters, [&](std::string_view piece) {
    for (std::size_t at = 0; at < piece.size() && index > 0; --index) {
      const std::size_t size = base::first_character(piece.substr(at)).bytes;
      at += size;
      bytes += size;
    }
  });
  return bytes;
}

// The beginning of the character that a byte is in.
std::uint64_t character_start(const TextSource& source, std::uint64_t offset) {
  constexpr std::uint64_t kLongest = 4;
  std::string before;
  TextReader reader(source);
  reader.read(
      offset, [](std::string_view text) { return text.size(); },
      [&](std::string_view piece) {
        before += piece;
        if (before.size() > kLongest) before.erase(0, before.size() - kLongest);
      });
  return offset - (before.size() - base::whole_characters(before));
}

// How the text is encoded, and where its training part ends.
struct Plan {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::uint64_t train_bytes = 0;
};

std::shared_ptr<const Tokenizer> learn_bpe(const TextSource& source, std::int64_t vocab,
                                           const OnProgress& on_progress) {
  BpeTrainer trainer;
  read_all(source, BpeTrainer::complete_prefix, on_progress,
           [&](std::string_view piece) { trainer.add(piece); });
  return trainer.train(vocab, [&](std::int64_t tokens) {
    if (on_progress) on_progress({.stage = Stage::merging, .done = tokens, .all = vocab});
  });
}

Plan plan_for(const TextSource& source, const TextOptions& options, const OnProgress& on_progress) {
  // As nanoGPT rounds it.
  const auto of_training = [&](std::uint64_t count) {
    return static_cast<std::uint64_t>(static_cast<double>(count) * (1 - options.val));
  };
  const std::uint64_t bytes = of_training(source.bytes());
  const std::string kind = options.made ? options.made->kind() : options.tokenizer;
  if (kind == "bytes") return {make_bytes_tokenizer(), bytes};
  if (kind == "chars") {
    const Characters characters = characters_of(source, options.made.get(), on_progress);
    return {options.made ? options.made : make_chars_tokenizer(characters.different),
            byte_of_character(source, of_training(characters.count))};
  }
  return {options.made ? options.made : learn_bpe(source, options.vocab, on_progress),
          character_start(source, bytes)};
}

class TokenWriter {
 public:
  TokenWriter(const fs::path& path, int token_bytes) : file_(path), token_bytes_(token_bytes) {}

  void write(const std::vector<std::int32_t>& tokens) {
    if (token_bytes_ == 4) {
      file_.write(tokens.data(), tokens.size() * sizeof(std::int32_t));
    } else {
      narrow_.assign(tokens.begin(), tokens.end());
      file_.write(narrow_.data(), narrow_.size() * sizeof(std::uint16_t));
    }
  }
  void commit() { file_.commit(); }

 private:
  base::AtomicFile file_;
  int token_bytes_;
  std::vector<std::uint16_t> narrow_;
};

// Both splits in one sweep over the text.
class Encoding {
 public:
  Encoding(const TextSource& source, const Tokenizer& tokenizer, const OnProgress& on_progress)
      : source_(source), tokenizer_(tokenizer), reader_(source), on_progress_(on_progress) {}

  SplitSize write(const fs::path& path, std::uint64_t bytes) {
    TokenWriter writer(path, token_bytes_for(tokenizer_.vocab_size()));
    SplitSize size{0, static_cast<std::int64_t>(bytes)};
    const auto complete = [&](std::string_view text) { return tokenizer_.complete_prefix(text); };
    reader_.read(bytes, complete, [&](std::string_view piece) {
      sum_.add(piece.data(), piece.size());
      const std::vector<std::int32_t> tokens = tokenizer_.encode(piece);
      writer.write(tokens);
      size.tokens += static_cast<std::int64_t>(tokens.size());
      tell(piece.size(), tokens.size());
    });
    if (size.tokens < 2) {
      throw InputError(fmt::format("the text is too short: {} would have {} tokens of at least 2",
                                   path.filename().string(), size.tokens));
    }
    writer.commit();
    return size;
  }

  std::string checksum() const { return sum_.text(); }  // of the text so far

 private:
  void tell(std::size_t bytes, std::size_t tokens) {
    progress_.done += static_cast<std::int64_t>(bytes);
    progress_.tokens += static_cast<std::int64_t>(tokens);
    if (on_progress_) on_progress_(progress_);
  }

  const TextSource& source_;
  const Tokenizer& tokenizer_;
  TextReader reader_;
  const OnProgress& on_progress_;
  base::Checksum sum_;
  TextProgress progress_{.stage = Stage::encoding,
                         .all = static_cast<std::int64_t>(source_.bytes())};
};

void add_files_of(const fs::path& folder, std::vector<fs::path>& files) {
  std::vector<fs::path> found;
  for (auto at = fs::recursive_directory_iterator(folder); at != fs::end(at); ++at) {
    if (at->path().filename().string().starts_with('.')) {
      at.disable_recursion_pending();
    } else if (at->is_regular_file()) {
      found.push_back(at->path());
    }
  }
  if (found.empty()) throw InputError(fmt::format("{}: there is no file in it", folder.string()));
  std::sort(found.begin(), found.end());
  files.insert(files.end(), found.begin(), found.end());
}

}  // namespace

std::vector<fs::path> text_files(const std::vector<fs::path>& given) {
  std::vector<fs::path> files;
  for (const fs::path& path : given) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      add_files_of(path, files);
    } else {
      files.push_back(path);
    }
  }
  return files;
}

void require_free_token_folder(const fs::path& folder, bool replace) {
  base::AtomicFolder::check(folder, replace, token_files());
}

TextInfo write_token_folder(const fs::path& folder, const std::vector<fs::path>& files,
                            const TextOptions& options, bool replace,
                            const OnProgress& on_progress) {
  check(options);
  require_free_token_folder(folder, replace);
  const TextSource source(files);
  const Plan plan = plan_for(source, options, on_progress);
  base::AtomicFolder writing(folder);
  Encoding encoding(source, *plan.tokenizer, on_progress);
  TextInfo info;
  info.tokenizer = plan.tokenizer->kind();
  info.vocab_size = plan.tokenizer->vocab_size();
  info.train = encoding.write(writing.path() / kTrainTokens, plan.train_bytes);
  info.val = encoding.write(writing.path() / kValTokens, source.bytes() - plan.train_bytes);
  base::write_text_atomically(writing.path() / kTokenizerFile,
                              base::json_text(plan.tokenizer->to_json(), 1) + "\n");
  info.files = identify(writing.path());
  info.options = {{"tokenizer", info.tokenizer}, {"val", options.val}};
  if (info.tokenizer == "bpe" && !options.made) info.options["vocab"] = options.vocab;
  info.source = {{"files", source.files().size()},
                 {"bytes", source.bytes()},
                 {"checksum", encoding.checksum()}};
  base::write_json(writing.path() / kTextFile, text_info_to_json(info));
  writing.commit(replace, token_files());
  return info;
}

}  // namespace edelta::data
