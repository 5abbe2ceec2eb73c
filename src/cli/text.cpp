// edelta text: turns text files into tokens that a language model learns from.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/atomic_folder.h"
#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/interrupted.h"
#include "cli/notice.h"
#include "cli/print_json.h"
#include "cli/standard_streams.h"
#include "cli/stop_signal.h"
#include "cli/text_progress.h"
#include "data/text_info.h"
#include "edelta/base/error.h"
#include "edelta/data/text.h"

namespace edelta::cli {
namespace {

namespace fs = std::filesystem;
using data::TextProgress;
using Clock = std::chrono::steady_clock;

struct TextOptions {
  std::vector<std::string> files;
  std::string out, tokenizer, tokenizer_from;
  std::optional<std::int64_t> vocab;
  data::TextOptions text;
  bool force = false;
  bool json = false;
};

data::TextOptions text_options(const TextOptions& options) {
  data::TextOptions text = options.text;
  if (!options.tokenizer_from.empty()) {
    text.made = data::find_tokenizer(options.tokenizer_from);
    if (!options.tokenizer.empty() && options.tokenizer != text.made->kind()) {
      throw InputError(fmt::format("{}: it is a tokenizer of the kind {}, not {}",
                                   options.tokenizer_from, text.made->kind(), options.tokenizer));
    }
    return text;
  }
  if (!options.tokenizer.empty()) {
    text.tokenizer = options.tokenizer;
  } else if (options.vocab) {
    text.tokenizer = "bpe";
  }
  if (!options.vocab) return text;
  if (text.tokenizer != "bpe") {
    throw InputError(fmt::format("--vocab is for the tokenizer bpe, not {}", text.tokenizer));
  }
  text.vocab = *options.vocab;
  return text;
}

// The text is read more than once, and standard input can be so only from a file.
class KeptInput {
 public:
  explicit KeptInput(const fs::path& out) : folder_(out), path_(folder_.path() / "standard input") {
    base::AtomicFile file(path_);
    std::array<char, 1 << 16> buffer;
    while (const size_t count = read_some(buffer.data(), buffer.size())) {
      file.write(buffer.data(), count);
    }
    file.commit();
  }
  const fs::path& path() const { return path_; }

 private:
  // Waits where a signal ends the waiting: read() itself would go on.
  static size_t read_some(char* out, size_t most) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    ssize_t count = -1;
    do {
      if (received_signal() != 0) throw Interrupted(received_signal());
      // A signal may also come just before the waiting begins.
      const int ready = ::poll(&input, 1, /*milliseconds=*/200);
      if (ready == 0) errno = EINTR;
      if (ready > 0) count = ::read(STDIN_FILENO, out, most);
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
      throw InputError(fmt::format("cannot read standard input: {}", std::strerror(errno)));
    }
    return static_cast<size_t>(count);
  }

  base::AtomicFolder folder_;  // never committed: it goes away with what is in it
  fs::path path_;
};

std::vector<fs::path> input_files(const TextOptions& options, std::optional<KeptInput>& kept) {
  std::vector<fs::path> given;
  for (const std::string& name : options.files) {
    if (name != kStandardStream) {
      given.emplace_back(name);
      continue;
    }
    if (kept) throw InputError("- is given twice; standard input can be read once");
    given.push_back(kept.emplace(options.out).path());
  }
  return data::text_files(given);
}

void run_text(const TextOptions& options) {
  const data::TextOptions text = text_options(options);
  data::require_free_token_folder(options.out, options.force);
  remember_signals({SIGINT, SIGTERM, SIGHUP}, NextSignal::is_remembered);
  std::optional<KeptInput> kept;
  const std::vector<fs::path> files = input_files(options, kept);
  const Clock::time_point began = Clock::now();
  data::TextInfo info;
  {
    TextProgressLine progress;
    info = data::write_token_folder(options.out, files, text, options.force,
                                    [&](const TextProgress& now) { progress.show(now); });
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  if (options.json) {
    nlohmann::ordered_json written = data::text_info_to_json(info);
    written["folder"] = options.out;
    print_json(written);
    return;
  }
  if (info.tokenizer == "bpe" && !text.made && info.vocab_size < text.vocab) {
    notice("note: {} tokens instead of {}: no further pair occurs twice\n", info.vocab_size,
           text.vocab);
  }
  const std::int64_t tokens = info.train.tokens + info.val.tokens;
  fmt::print(
      "{}: {} training and {} validation tokens, vocabulary {}, {:.2f} bytes a token, in {}\n"
      "{:.1f} MB in {:.1f} s, {:.3g} million tokens/s\n",
      info.tokenizer, info.train.tokens, info.val.tokens, info.vocab_size,
      static_cast<double>(info.train.bytes + info.val.bytes) / tokens, options.out,
      (info.train.bytes + info.val.bytes) / 1e6, seconds, tokens / seconds / 1e6);
}

}  // namespace

void add_text(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("text", "Turn text files into tokens for a language model to learn from");
  auto options = std::make_shared<TextOptions>();
  command
      ->add_option("FILE", options->files,
                   "Text files, or folders of them; - is standard input. They are one text, one "
                   "after another")
      ->type_name("FILE")
      ->required()
      ->check(kNotEmpty);
  command->add_option("--out", options->out, "Folder to write to")
      ->type_name("DIR")
      ->required()
      ->check(kNotEmpty);
  command
      ->add_option("--tokenizer", options->tokenizer,
                   fmt::format("{}; bytes unless --vocab or --tokenizer-from is given",
                               fmt::join(data::tokenizer_names(), ", ")))
      ->check(kNotEmpty);
  auto* vocab = command
                    ->add_option("--vocab", options->vocab,
                                 fmt::format("Tokens that bpe learns, the 256 bytes included [{}]",
                                             options->text.vocab))
                    ->check(CLI::Range(256, 1000000));
  command
      ->add_option("--val", options->text.val, "Share of the text, its end, that is for validation")
      ->capture_default_str();
  command
      ->add_option(
          "--tokenizer-from", options->tokenizer_from,
          "A tokenizer that is there: tokenizer.json, or a folder with that (tokens, a run), or "
          "with GPT-2's vocab.bpe and encoder.json")
      ->excludes(vocab)
      ->type_name("FILE")
      ->check(kNotEmpty);
  command->add_flag("--force", options->force, "Replace the tokens that are there");
  command->add_flag("--json", options->json, "Print what text.json says as JSON");
  command->footer(
      "bytes takes any file and any prompt. chars has a token for each character that occurs "
      "(UTF-8).\n"
      "bpe learns tokens of several bytes and takes any file, too: more text fits a model's "
      "window.\n"
      "Losses of different tokenizers compare in bits per byte. Files whose names begin with a dot "
      "are\n"
      "left out of folders.\n\nExamples:\n"
      "  edelta text book.txt --out data/book\n"
      "  edelta text notes/ letters/ --tokenizer bpe --vocab 4096 --out data/mine\n"
      "  zcat corpus.gz | edelta text - --tokenizer chars --val 0.05 --out data/corpus\n"
      "  edelta text book.txt --tokenizer-from gpt2/ --out data/gpt2\n"
      "  edelta text other.txt --tokenizer-from runs/book --out data/other");
  command->callback([options] { run_text(*options); });
}

}  // namespace edelta::cli
