// edelta generate: text from a trained model, token by token.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "base/input_file.h"
#include "base/printable.h"
#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/interrupted.h"
#include "cli/notice.h"
#include "cli/print_json.h"
#include "cli/run_options.h"
#include "cli/standard_input.h"
#include "cli/standard_streams.h"
#include "cli/stop_signal.h"
#include "edelta/base/error.h"
#include "edelta/infer/generator.h"
#include "infer/model_source.h"
#include "infer/text_stream.h"

namespace edelta::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kLargestPrompt = size_t{1} << 26;

struct GenerateOptions : RunOptions {
  std::string prompt, prompt_file;
  std::string stop;
  int64_t tokens = 200;
  infer::GeneratorOptions generator;
};

infer::ModelSource load(const GenerateOptions& options) {
  infer::ModelSource source;
  if (infer::is_exported_model(options.run)) {
    source = infer::load_exported_model(options.run);
  } else {
    source = {options.model(), options.folder().read_tokenizer()};
  }
  for (const std::string& line : source.notices) notice("{}\n", line);
  require_same_vocabulary(source, options.run);
  return source;
}

std::string prompt_text(const GenerateOptions& options) {
  if (options.prompt_file == kStandardStream) return read_standard_input(kLargestPrompt);
  if (!options.prompt_file.empty()) return base::read_text(options.prompt_file, kLargestPrompt);
  return options.prompt;
}

// Tokens given as numbers.
std::vector<int32_t> parse_numbers(const std::string& text) {
  std::vector<int32_t> tokens;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    int32_t token = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), token);
    if (error != std::errc() || end != word.data() + word.size()) {
      throw InputError(
          fmt::format("it has '{}'; without a tokenizer it takes token numbers, like 5 17 3",
                      base::escaped(word)));
    }
    tokens.push_back(token);
  }
  return tokens;
}

std::vector<int32_t> prompt_tokens(const GenerateOptions& options,
                                   const data::Tokenizer* tokenizer) {
  const std::string text = prompt_text(options);
  try {
    const auto tokens = tokenizer ? tokenizer->encode(text) : parse_numbers(text);
    return tokens.empty() ? infer::beginning(tokenizer) : tokens;
  } catch (const InputError& error) {
    throw InputError(fmt::format("prompt: {}", error.what()));
  }
}

// One sample's text, from the tokens as they come.
class Sample {
 public:
  Sample(const data::Tokenizer* tokenizer, const std::string& stop)
      : tokenizer_(tokenizer), stream_(stop) {}

  // What can be shown of it now.
  std::string add(int32_t token) {
    if (stream_.stopped()) return {};
    tokens_.push_back(token);
    return keep(stream_.add(text_of(token)));
  }
  std::string finish() { return keep(stream_.finish()); }

  bool stopped() const { return stream_.stopped(); }
  const std::string& text() const { return text_; }
  const std::vector<int32_t>& tokens() const { return tokens_; }

 private:
  // Nothing for what pads a vocabulary beyond the tokenizer's.
  std::string text_of(int32_t token) const {
    if (tokenizer_ == nullptr) return fmt::format("{} ", token);
    if (token >= tokenizer_->vocab_size()) return {};
    return std::string(tokenizer_->bytes_of(token));
  }

  std::string keep(std::string shown) {
    text_ += shown;
    return shown;
  }

  const data::Tokenizer* tokenizer_;
  infer::TextStream stream_;
  std::string text_;
  std::vector<int32_t> tokens_;
};

struct Rates {
  int64_t prompt = 0, made = 0;
  double prefill_seconds = 0, seconds = 0;
  double per_second() const { return static_cast<double>(made) / std::max(seconds, 1e-9); }
};

// Nobody makes text that nobody reads.
void show(const std::string& text) {
  fmt::print("{}", text);
  if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category());
}

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Draws until all have stopped, there are enough tokens, or a signal comes. One sample appears as
// it is made.
Rates generate(infer::Generator& generator, const std::vector<int32_t>& prompt, int64_t tokens,
               bool live, std::vector<Sample>& samples) {
  Rates rates{.prompt = std::ssize(prompt)};
  const auto begin = Clock::now();
  generator.start(prompt);
  rates.prefill_seconds = since(begin);
  const auto start = Clock::now();
  const auto going = [&] {
    return received_signal() == 0 &&
           !std::all_of(samples.begin(), samples.end(), [](const auto& s) { return s.stopped(); });
  };
  for (int64_t i = 0; i < tokens && going(); ++i) {
    const auto drawn = generator.next();
    for (size_t s = 0; s < samples.size(); ++s) {
      if (samples[s].stopped()) continue;
      const std::string text = samples[s].add(drawn[s]);
      ++rates.made;
      if (live) show(text);
    }
  }
  rates.seconds = since(start);
  for (Sample& sample : samples) {
    const std::string rest = sample.finish();
    if (live) show(rest);
  }
  return rates;
}

void print_samples(const std::vector<Sample>& samples, bool live) {
  if (live) return show("\n");
  for (size_t s = 0; s < samples.size(); ++s) {
    fmt::print("{}--- sample {} ---\n{}\n", s == 0 ? "" : "\n", s + 1, samples[s].text());
  }
}

nlohmann::ordered_json to_json(const GenerateOptions& options, const std::vector<int32_t>& prompt,
                               const std::vector<Sample>& samples, const Rates& rates) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Sample& sample : samples) {
    all.push_back({{"text", sample.text()},
                   {"tokens", sample.tokens()},
                   {"ended_by", sample.stopped()         ? "stop"
                                : received_signal() != 0 ? "signal"
                                                         : "tokens"}});
  }
  return {{"run", options.run},
          {"seed", options.generator.seed},
          {"prompt_tokens", prompt},
          {"samples", all},
          {"prefill_s", rates.prefill_seconds},
          {"tokens_per_second", rates.per_second()}};
}

void run_generate(const GenerateOptions& options) {
  validate(options.generator.sampling);
  const infer::ModelSource source = load(options);
  infer::Generator generator(source.model, options.generator);
  const auto prompt = prompt_tokens(options, source.tokenizer.get());
  std::vector<Sample> samples(generator.samples(), Sample(source.tokenizer.get(), options.stop));
  const bool live = !options.json && samples.size() == 1;
  remember_signals({SIGINT, SIGTERM}, NextSignal::ends_at_once);
  const Rates rates = generate(generator, prompt, options.tokens, live, samples);
  if (options.json) {
    print_json(to_json(options, prompt, samples, rates));
  } else {
    print_samples(samples, live);
    notice("{} tokens, {:.0f} a second; prompt of {} in {:.0f} ms\n", rates.made,
           rates.per_second(), rates.prompt, 1e3 * rates.prefill_seconds);
  }
  if (received_signal() != 0) throw Interrupted(received_signal());
}

void add_sampling_options(CLI::App& command, infer::SamplingOptions& sampling) {
  command
      .add_option("--temperature", sampling.temperature,
                  "Logits are divided by it; 0: always the likeliest token")
      ->capture_default_str();
  command.add_option("--top-k", sampling.top_k, "Only the K likeliest tokens (0: all)")
      ->capture_default_str();
  command
      .add_option("--top-p", sampling.top_p, "Only the fewest tokens that have this probability")
      ->capture_default_str();
  command
      .add_option("--min-p", sampling.min_p,
                  "Only tokens with this share of the largest probability")
      ->capture_default_str();
  command
      .add_option("--repetition-penalty", sampling.repetition_penalty,
                  "Tokens that occurred: positive logits are divided by it, negative multiplied")
      ->capture_default_str();
}

}  // namespace

void add_generate(CLI::App& app) {
  CLI::App* command = app.add_subcommand("generate", "Let a model on tokens go on with a text");
  auto options = std::make_shared<GenerateOptions>();
  add_run_options(*command, *options, "Run folder, or an exported model");
  auto* prompt = command->add_option("--prompt", options->prompt,
                                     "Text to go on with (default: a new line); without a "
                                     "tokenizer, token numbers");
  command
      ->add_option("--prompt-file,FILE", options->prompt_file,
                   "The text to go on with, from a file; - is standard input")
      ->type_name("FILE")
      ->excludes(prompt);
  command->add_option("--tokens", options->tokens, "Tokens to make, at most")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 31))
      ->capture_default_str();
  add_sampling_options(*command, options->generator.sampling);
  command->add_option("--stop", options->stop, "Text that ends a sample, and is not shown");
  command->add_option("--samples", options->generator.samples, "Texts from the same prompt")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--seed", options->generator.seed, "Seed of the draws")
      ->check(kSeed)
      ->capture_default_str();
  command->footer(
      "RUN is a run folder, a folder with an exported model, or an exported .safetensors file.\n"
      "A text that reaches the model's block size goes on with its latter half, read anew.\n"
      "The rules apply in the order: temperature, top-k, top-p, min-p, repetition penalty.\n\n"
      "Examples:\n  edelta generate runs/mine --prompt 'In the beginning'\n"
      "  edelta generate runs/mine - --temperature 0 < start.txt\n"
      "  edelta generate model.safetensors --samples 4 --top-p 0.9 --json");
  command->callback([options] { run_generate(*options); });
}

}  // namespace edelta::cli
