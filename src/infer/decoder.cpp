#include "edelta/infer/decoder.h"

#include <fmt/format.h>

#include <algorithm>

#include "edelta/base/error.h"
#include "edelta/base/machine.h"
#include "edelta/models/registry.h"

namespace edelta::infer {
namespace {

using models::ModelConfig;
using torch::Tensor;

// Keys, values and running sums are kept; a token costs one pass through the weights.
class CachedDecoder : public Decoder {
 public:
  CachedDecoder(const ModelConfig& config, int64_t sequences,
                std::unique_ptr<models::ModelDecoding> model)
      : Decoder(config, sequences), vocab_size_(config.vocab_size), model_(std::move(model)) {}

 private:
  void take(std::span<const int32_t> tokens, int64_t begin, int64_t length,
            float* logits) override {
    if (length == 1) {
      return (*model_)({.sequences = sequences(), .begin = begin}, tokens.data(), logits);
    }
    // One prompt at a time: memory for one whole sequence is enough.
    for (int64_t s = 0; s < sequences(); ++s) {
      (*model_)({.sequence = s, .length = length}, tokens.data() + s * length,
                logits + s * vocab_size_);
    }
  }

  int64_t vocab_size_;
  std::unique_ptr<models::ModelDecoding> model_;
};

class RecomputingDecoder : public Decoder {
 public:
  RecomputingDecoder(std::shared_ptr<models::Model> model, int64_t sequences)
      : Decoder(model->config(), sequences),
        model_(std::move(model)),
        tokens_(torch::empty({sequences, capacity()}, torch::kInt64)) {}

 private:
  void take(std::span<const int32_t> tokens, int64_t begin, int64_t length,
            float* logits) override {
    const torch::NoGradGuard no_grad;
    model_->eval();
    auto kept = tokens_.accessor<int64_t, 2>();
    for (int64_t s = 0; s < sequences(); ++s) {
      for (int64_t t = 0; t < length; ++t) kept[s][begin + t] = tokens[s * length + t];
    }
    const Tensor predicted = model_->predict(tokens_.narrow(1, 0, begin + length));
    const Tensor last = predicted.select(1, -1).to(torch::kFloat32).contiguous();
    std::copy_n(last.data_ptr<float>(), last.numel(), logits);
  }

  std::shared_ptr<models::Model> model_;
  Tensor tokens_;  // [sequences, capacity]
};

void require_decodable(const ModelConfig& config) {
  if (config.head != models::Head::token) {
    throw InputError("the model is on vectors; only a model on tokens generates");
  }
  if (!models::find_architecture(config.model).causal(config)) {
    throw InputError(fmt::format(
        "{} with pool sequence looks at tokens that are yet to come, so nothing can be generated "
        "from it; train it with pool prefix or token",
        config.model));
  }
}

}  // namespace

Decoder::Decoder(const ModelConfig& config, int64_t sequences)
    : sequences_(sequences),
      capacity_(config.block_size),
      vocab_size_(config.vocab_size),
      logits_(sequences * config.vocab_size) {}

void Decoder::check(std::span<const int32_t> tokens, int64_t length) const {
  if (length < 1 || std::ssize(tokens) != sequences_ * length) {
    throw InputError(
        fmt::format("{} tokens are no equal prompts for {} sequences", tokens.size(), sequences_));
  }
  for (const int32_t token : tokens) {
    if (token < 0 || token >= vocab_size_) {
      throw InputError(
          fmt::format("token {} is not in the vocabulary, 0 to {}", token, vocab_size_ - 1));
    }
  }
}

void Decoder::start(std::span<const int32_t> tokens) {
  const int64_t length = std::ssize(tokens) / sequences_;
  check(tokens, length);
  if (length > capacity_) {
    throw InputError(fmt::format("a prompt of {} tokens, but block_size is {}", length, capacity_));
  }
  take(tokens, 0, length, logits_.data());
  length_ = length;
}

void Decoder::step(std::span<const int32_t> tokens) {
  check(tokens, 1);
  if (length_ == capacity_) {
    throw InputError(fmt::format("the sequence has all {} positions of block_size", capacity_));
  }
  take(tokens, length_, 1, logits_.data());
  ++length_;
}

std::span<const float> Decoder::logits(int64_t sequence) const {
  return std::span(logits_).subspan(sequence * vocab_size_, vocab_size_);
}

std::unique_ptr<Decoder> make_decoder(std::shared_ptr<models::Model> model, int64_t sequences,
                                      Way way) {
  const ModelConfig& config = model->config();
  require_decodable(config);
  models::require_range("the number of sequences", sequences, 1, models::kLargestSize);
  // Of each layer keys and values, and the logits.
  base::require_memory(sizeof(float) * static_cast<double>(sequences) *
                           (2 * static_cast<double>(config.n_layer * config.block_size) *
                                static_cast<double>(config.n_embd) +
                            static_cast<double>(config.vocab_size)),
                       fmt::format("{} sequences of {} positions", sequences, config.block_size));
  if (way == Way::fastest) {
    if (auto decoding = model->decoding({sequences, config.block_size})) {
      return std::make_unique<CachedDecoder>(config, sequences, std::move(decoding));
    }
  }
  return std::make_unique<RecomputingDecoder>(std::move(model), sequences);
}

}  // namespace edelta::infer
