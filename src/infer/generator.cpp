#include "edelta/infer/generator.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/random.h"
#include "edelta/base/error.h"

namespace edelta::infer {

Generator::Generator(std::shared_ptr<models::Model> model, const GeneratorOptions& options)
    : vocab_size_(model->config().vocab_size),
      seed_(options.seed),
      decoder_(make_decoder(std::move(model), options.samples, options.way)),
      sampler_(options.sampling, vocab_size_),
      windows_(options.samples),
      seen_(options.samples * vocab_size_),
      drawn_(options.samples) {
  for (auto& window : windows_) window.reserve(decoder_->capacity());
  read_.reserve(options.samples * decoder_->capacity());
}

void Generator::start(std::span<const int32_t> prompt) {
  if (prompt.empty()) throw InputError("the prompt has no tokens");
  for (const int32_t token : prompt) {
    if (token < 0 || token >= vocab_size_) {
      throw InputError(
          fmt::format("token {} is not in the vocabulary, 0 to {}", token, vocab_size_ - 1));
    }
  }
  const auto end = prompt.last(std::min<size_t>(prompt.size(), decoder_->capacity()));
  read_.clear();
  for (auto& window : windows_) {
    window.assign(end.begin(), end.end());
    read_.insert(read_.end(), end.begin(), end.end());
  }
  decoder_->start(read_);
  std::fill(seen_.begin(), seen_.end(), uint8_t{0});
  for (int64_t s = 0; s < samples(); ++s) {
    for (const int32_t token : prompt) seen(s)[token] = 1;
  }
  count_ = 0;
}

std::span<const int32_t> Generator::next() {
  if (count_ > 0) feed();
  for (int64_t s = 0; s < samples(); ++s) {
    // The draw of a sample's token depends on its number and place alone.
    base::RandomStream random(seed_, base::Stream::sampling,
                              static_cast<uint64_t>(s) << 32 | static_cast<uint64_t>(count_));
    drawn_[s] = sampler_(decoder_->logits(s), {seen(s), static_cast<size_t>(vocab_size_)},
                         random.uniform());
    seen(s)[drawn_[s]] = 1;
  }
  ++count_;
  return drawn_;
}

void Generator::feed() {
  const bool full = decoder_->length() == decoder_->capacity();
  if (full) slide();
  for (int64_t s = 0; s < samples(); ++s) windows_[s].push_back(drawn_[s]);
  if (!full) return decoder_->step(drawn_);
  read_.clear();
  for (const auto& window : windows_) read_.insert(read_.end(), window.begin(), window.end());
  decoder_->start(read_);
}

void Generator::slide() {
  const int64_t dropped = std::max<int64_t>(1, decoder_->capacity() / 2);
  for (auto& window : windows_) window.erase(window.begin(), window.begin() + dropped);
}

}  // namespace edelta::infer
