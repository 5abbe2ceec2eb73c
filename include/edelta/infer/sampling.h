// Which token comes next (specification 10.4).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace edelta::infer {

struct SamplingOptions {
  double temperature = 0.8;  // 0: always the largest logit
  int64_t top_k = 0;         // the k largest; 0: all
  double top_p = 1;          // the smallest set with at least this probability; 1: all
  double min_p = 0;          // those with this share of the largest probability; 0: all
  double repetition_penalty = 1;
};
// InputError that names the option and its range.
void validate(const SamplingOptions& options);

class Sampler {
 public:
  Sampler(const SamplingOptions& options, int64_t vocab_size);

  // The token for these logits. `seen` says of every token whether it occurred before, `uniform` is
  // a draw from [0, 1).
  int32_t operator()(std::span<const float> logits, std::span<const uint8_t> seen, double uniform);

 private:
  struct Candidate {
    int32_t token;
    double logit;  // over the temperature
    double weight = 0;
  };

  double penalised(double logit, bool seen) const;
  int32_t largest(std::span<const float> logits, std::span<const uint8_t> seen) const;
  void keep_top_k();
  void keep_top_p();
  void keep_min_p();
  int32_t draw(std::span<const uint8_t> seen, double uniform);

  SamplingOptions options_;
  std::vector<Candidate> candidates_;
};

}  // namespace edelta::infer
