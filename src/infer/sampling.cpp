#include "edelta/infer/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "edelta/base/error.h"

namespace edelta::infer {
namespace {

// Differences of such logits are finite, however small the temperature or large the penalty.
double bounded(double logit) { return std::clamp(logit, -1e300, 1e300); }

void require(bool holds, const char* name, double value, const char* range) {
  if (!holds) throw InputError(fmt::format("{} is {}; it must be {}", name, value, range));
}

}  // namespace

void validate(const SamplingOptions& o) {
  require(std::isfinite(o.temperature) && o.temperature >= 0, "temperature", o.temperature,
          "0 (greedy) or more");
  require(o.top_k >= 0, "top-k", static_cast<double>(o.top_k), "1 or more, or 0 for all");
  require(o.top_p > 0 && o.top_p <= 1, "top-p", o.top_p, "above 0 and at most 1");
  require(o.min_p >= 0 && o.min_p <= 1, "min-p", o.min_p, "between 0 and 1");
  require(std::isfinite(o.repetition_penalty) && o.repetition_penalty > 0, "repetition-penalty",
          o.repetition_penalty, "above 0");
}

Sampler::Sampler(const SamplingOptions& options, int64_t vocab_size) : options_(options) {
  validate(options);
  candidates_.reserve(vocab_size);
}

int32_t Sampler::operator()(std::span<const float> logits, std::span<const uint8_t> seen,
                            double uniform) {
  if (std::any_of(logits.begin(), logits.end(), [](float z) { return std::isnan(z); })) {
    throw Failure("the model's logits are not numbers");
  }
  if (options_.temperature == 0) return largest(logits, seen);
  candidates_.clear();
  for (size_t i = 0; i < logits.size(); ++i) {
    candidates_.push_back({static_cast<int32_t>(i), bounded(logits[i] / options_.temperature)});
  }
  keep_top_k();
  keep_top_p();
  keep_min_p();
  return draw(seen, uniform);
}

double Sampler::penalised(double logit, bool seen) const {
  if (!seen) return logit;
  return logit > 0 ? logit / options_.repetition_penalty : logit * options_.repetition_penalty;
}

int32_t Sampler::largest(std::span<const float> logits, std::span<const uint8_t> seen) const {
  size_t best = 0;
  for (size_t i = 1; i < logits.size(); ++i) {
    if (penalised(logits[i], seen[i]) > penalised(logits[best], seen[best])) best = i;
  }
  return static_cast<int32_t>(best);
}

namespace {

// The likelier first; of equals, the lower token.
constexpr auto kLikelier = [](const auto& a, const auto& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
};

template <class Candidates>
double largest_logit(const Candidates& candidates) {
  double most = candidates.front().logit;
  for (const auto& each : candidates) most = std::max(most, each.logit);
  return most;
}

}  // namespace

void Sampler::keep_top_k() {
  if (options_.top_k == 0 || options_.top_k >= std::ssize(candidates_)) return;
  const auto end = candidates_.begin() + options_.top_k;
  std::nth_element(candidates_.begin(), end, candidates_.end(), kLikelier);
  candidates_.erase(end, candidates_.end());
}

// A heap gives the likeliest one by one: as a rule a few are enough, of a vocabulary of thousands.
void Sampler::keep_top_p() {
  if (options_.top_p >= 1) return;
  const double most = largest_logit(candidates_);
  double total = 0;
  for (Candidate& each : candidates_) total += each.weight = std::exp(each.logit - most);
  const auto less_likely = [](const auto& a, const auto& b) { return kLikelier(b, a); };
  std::make_heap(candidates_.begin(), candidates_.end(), less_likely);
  auto rest = candidates_.end();
  for (double kept = 0; kept < options_.top_p * total && rest != candidates_.begin();) {
    std::pop_heap(candidates_.begin(), rest, less_likely);
    kept += (--rest)->weight;
  }
  candidates_.erase(candidates_.begin(), rest);
}

void Sampler::keep_min_p() {
  if (options_.min_p <= 0) return;
  const double least = largest_logit(candidates_) + std::log(options_.min_p);
  std::erase_if(candidates_, [least](const Candidate& each) { return each.logit < least; });
}

int32_t Sampler::draw(std::span<const uint8_t> seen, double uniform) {
  // In the vocabulary's order, so that the draw does not depend on how the others were left out.
  std::sort(candidates_.begin(), candidates_.end(),
            [](const Candidate& a, const Candidate& b) { return a.token < b.token; });
  for (Candidate& each : candidates_) {
    each.logit = bounded(penalised(each.logit, seen[each.token]));
  }
  const double most = largest_logit(candidates_);
  double total = 0;
  for (Candidate& each : candidates_) total += each.weight = std::exp(each.logit - most);
  double left = uniform * total;
  for (const Candidate& each : candidates_) {
    if ((left -= each.weight) < 0) return each.token;
  }
  // Rounding left nothing over: the last one that can be drawn at all.
  const auto last = std::find_if(candidates_.rbegin(), candidates_.rend(),
                                 [](const Candidate& each) { return each.weight > 0; });
  return last->token;
}

}  // namespace edelta::infer
