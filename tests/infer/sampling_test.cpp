#include "edelta/infer/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/random.h"
#include "edelta/base/error.h"
#include "expect_error.h"

namespace edelta::infer {
namespace {

using Probabilities = std::map<int32_t, double>;

// Softmax of the logits that are finite.
Probabilities softmax(const std::vector<double>& logits) {
  Probabilities p;
  double total = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (std::isfinite(logits[i])) total += p[static_cast<int32_t>(i)] = std::exp(logits[i]);
  }
  for (auto& [token, value] : p) value /= total;
  return p;
}

constexpr double kOut = -std::numeric_limits<double>::infinity();

// Specification 10 word for word, one sentence after the other.
Probabilities by_definition(const std::vector<float>& z, const std::vector<uint8_t>& seen,
                            const SamplingOptions& o) {
  std::vector<double> logits(z.begin(), z.end());
  for (double& logit : logits) logit /= o.temperature;
  std::vector<size_t> order(z.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return logits[a] > logits[b]; });
  for (size_t rank = 0; o.top_k > 0 && rank < order.size(); ++rank) {
    if (rank >= static_cast<size_t>(o.top_k)) logits[order[rank]] = kOut;
  }
  const Probabilities after_k = softmax(logits);
  double reached = 0;
  for (const size_t token : order) {
    if (!after_k.contains(static_cast<int32_t>(token))) continue;
    if (o.top_p < 1 && reached >= o.top_p) logits[token] = kOut;
    reached += after_k.at(static_cast<int32_t>(token));
  }
  const Probabilities after_p = softmax(logits);
  for (const auto& [token, p] : after_p) {
    if (p < o.min_p * after_p.at(static_cast<int32_t>(order[0]))) logits[token] = kOut;
  }
  for (size_t i = 0; i < logits.size(); ++i) {
    if (seen[i] == 0 || !std::isfinite(logits[i])) continue;
    logits[i] = logits[i] > 0 ? logits[i] / o.repetition_penalty : logits[i] * o.repetition_penalty;
  }
  return softmax(logits);
}

std::vector<float> random_logits(size_t count, uint64_t seed) {
  base::RandomStream random(seed, base::Stream::task_rule, 0);
  std::vector<float> z(count);
  for (float& each : z) each = static_cast<float>(2 * random.normal());
  return z;
}

// The probability of a token is the length of the draws that give it.
void expect_definition(const std::vector<float>& z, const SamplingOptions& options) {
  std::vector<uint8_t> seen(z.size());
  for (size_t i = 0; i < seen.size(); i += 3) seen[i] = 1;
  Sampler sampler(options, static_cast<int64_t>(z.size()));
  double below = 0;
  for (const auto& [token, p] : by_definition(z, seen, options)) {
    if (p < 1e-6) {
      below += p;
      continue;
    }
    EXPECT_EQ(sampler(z, seen, below + 1e-3 * p), token);
    EXPECT_EQ(sampler(z, seen, below + 0.999 * p), token);
    below += p;
  }
  EXPECT_NEAR(below, 1, 1e-9);
}

TEST(Sampling, EveryRuleIsItsDefinition) {
  for (const uint64_t seed : {1, 2, 3}) {
    const auto z = random_logits(40, seed);
    for (const double temperature : {0.5, 1.0, 1.7}) {
      expect_definition(z, {.temperature = temperature});
      for (const int64_t k : {1, 5, 39, 40, 100}) {
        expect_definition(z, {.temperature = temperature, .top_k = k});
      }
      for (const double p : {0.01, 0.5, 0.9}) {
        expect_definition(z, {.temperature = temperature, .top_p = p});
      }
      for (const double p : {0.01, 0.3, 1.0}) {
        expect_definition(z, {.temperature = temperature, .min_p = p});
      }
      for (const double penalty : {0.5, 1.3, 3.0}) {
        expect_definition(z, {.temperature = temperature, .repetition_penalty = penalty});
      }
      expect_definition(z, {.temperature = temperature,
                            .top_k = 20,
                            .top_p = 0.9,
                            .min_p = 0.05,
                            .repetition_penalty = 1.5});
    }
  }
}

// Equal logits: the lower tokens are kept.
TEST(Sampling, ExtremesStillDrawATokenThatIsThere) {
  const std::vector<float> logits{-1, 3, -2};
  const std::vector<uint8_t> seen{1, 1, 1};
  for (const double top_p : {1.0, 0.9}) {
    Sampler coldest({.temperature = 1e-320, .top_p = top_p}, 3);
    EXPECT_EQ(coldest(logits, seen, 0.999), 1);
    Sampler strictest({.top_p = top_p, .repetition_penalty = 1e308}, 3);
    const int32_t drawn = strictest({logits.data(), 1}, seen, 0.5);
    EXPECT_EQ(drawn, 0);
  }
  const std::vector<float> none{NAN, 1};
  Sampler sampler({}, 2);
  EXPECT_THROW(sampler(none, seen, 0.5), Failure);
}

TEST(Sampling, TiesGoToTheLowerToken) {
  const std::vector<float> z{1, 3, 3, 3, 0};
  const std::vector<uint8_t> seen(z.size());
  EXPECT_EQ(Sampler({.temperature = 0}, 5)(z, seen, 0.99), 1);
  Sampler two({.temperature = 1, .top_k = 2}, 5), half({.temperature = 1, .top_p = 0.5}, 5);
  EXPECT_EQ(two(z, seen, 0.999), 2);
  EXPECT_EQ(half(z, seen, 0.999), 2);
}

TEST(Sampling, GreedyMindsTheRepetitionPenalty) {
  const std::vector<float> z{2, 1.9F, -1};
  const std::vector<uint8_t> seen{1, 0, 0};
  EXPECT_EQ(Sampler({.temperature = 0}, 3)(z, seen, 0), 0);
  EXPECT_EQ(Sampler({.temperature = 0, .repetition_penalty = 1.2}, 3)(z, seen, 0), 1);
}

TEST(Sampling, RefusesWhatIsOutOfRange) {
  const auto refused = [](const SamplingOptions& options, const char* name) {
    test::expect_error<InputError>([&] { validate(options); }, name);
  };
  refused({.temperature = -1}, "temperature");
  refused({.temperature = std::nan("")}, "temperature");
  refused({.top_k = -1}, "top-k");
  refused({.top_p = 0}, "top-p");
  refused({.top_p = 1.1}, "top-p");
  refused({.min_p = -0.1}, "min-p");
  refused({.repetition_penalty = 0}, "repetition-penalty");
}

}  // namespace
}  // namespace edelta::infer
