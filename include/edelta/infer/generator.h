// Text from a model: a decoder, and what chooses each next token.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "edelta/infer/decoder.h"
#include "edelta/infer/sampling.h"

namespace edelta::infer {

struct GeneratorOptions {
  SamplingOptions sampling = {};
  int64_t samples = 1;  // sequences that go on from the same prompt, each by draws of its own
  uint64_t seed = 42;
  Way way = Way::fastest;
};

//   Generator generator(model, {.samples = 2});
//   generator.start(prompt);
//   for (int i = 0; i < 100; ++i) for (const int32_t token : generator.next()) …
//
// A sequence that reaches the model's block size goes on with its latter half, which is read anew.
class Generator {
 public:
  // InputError where the model cannot generate, or an option is out of its range.
  Generator(std::shared_ptr<models::Model> model, const GeneratorOptions& options);

  int64_t samples() const { return decoder_->sequences(); }

  // A prompt of at least one token; of one longer than the block size, its end is read.
  void start(std::span<const int32_t> prompt);
  // The next token of every sample; valid until the next call.
  std::span<const int32_t> next();

 private:
  // Lets the decoder see the tokens drawn last.
  void feed();
  // Room for one more token in every window.
  void slide();
  uint8_t* seen(int64_t sample) { return seen_.data() + sample * vocab_size_; }

  int64_t vocab_size_;
  uint64_t seed_;
  std::unique_ptr<Decoder> decoder_;
  Sampler sampler_;
  std::vector<std::vector<int32_t>> windows_;  // what the decoder has read, sample by sample
  std::vector<uint8_t> seen_;                  // [samples, V]: the tokens of prompt and output
  std::vector<int32_t> drawn_, read_;
  int64_t count_ = 0;  // tokens drawn of each sample
};

}  // namespace edelta::infer
