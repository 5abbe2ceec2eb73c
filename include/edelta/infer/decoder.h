// Decoding: token sequences that grow, with the logits of what may come next (specification 10.3).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "edelta/models/model.h"

namespace edelta::infer {

// Several sequences of one length. All memory is taken when the decoder is made, and the weights
// are looked at then: a model that is trained on needs another decoder.
class Decoder {
 public:
  virtual ~Decoder() = default;

  int64_t sequences() const { return sequences_; }
  // Positions that a sequence may have: the model's block size.
  int64_t capacity() const { return capacity_; }
  // Positions of the sequences so far.
  int64_t length() const { return length_; }

  // Forgets everything and takes these tokens, [sequences, length], at least one for each sequence.
  void start(std::span<const int32_t> tokens);
  // One more token for each sequence.
  void step(std::span<const int32_t> tokens);
  // Of the token that follows the sequence, one for each token of the vocabulary.
  std::span<const float> logits(int64_t sequence) const;

 protected:
  Decoder(const models::ModelConfig& config, int64_t sequences);

 private:
  // Leaves the logits after these tokens in `logits` [sequences, V].
  virtual void take(std::span<const int32_t> tokens, int64_t begin, int64_t length,
                    float* logits) = 0;
  void check(std::span<const int32_t> tokens, int64_t length) const;

  int64_t sequences_, capacity_, vocab_size_;
  int64_t length_ = 0;
  std::vector<float> logits_;
};

// How a decoder goes about it.
enum class Way {
  fastest,   // with a state where the model has a way to decode and the kernels run, else:
  recompute  // every token a pass over the whole sequence
};

// InputError for a model that is not on tokens, or where a position depends on later ones.
std::unique_ptr<Decoder> make_decoder(std::shared_ptr<models::Model> model, int64_t sequences = 1,
                                      Way way = Way::fastest);

}  // namespace edelta::infer
