// The rounds of Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1,
// 2, 3", SC 2011) on words of any kind: single numbers, or a vector of counters side by side.
#pragma once

#include <cstdint>

namespace edelta::kernels {

template <typename Word>
struct PhiloxWords {
  Word word[4];
};

// product(m, w) gives the high and the low word of m·w.
template <typename Word, typename Product>
inline PhiloxWords<Word> philox4x32(PhiloxWords<Word> counter, uint32_t key0, uint32_t key1,
                                    const Product& product) {
  constexpr int kRounds = 10;
  constexpr uint32_t kMultiplier0 = 0xD2511F53;
  constexpr uint32_t kMultiplier1 = 0xCD9E8D57;
  constexpr uint32_t kWeyl0 = 0x9E3779B9;  // golden ratio
  constexpr uint32_t kWeyl1 = 0xBB67AE85;  // √3 − 1
  for (int round = 0; round < kRounds; ++round) {
    const auto product0 = product(kMultiplier0, counter.word[0]);
    const auto product1 = product(kMultiplier1, counter.word[2]);
    counter = {{product1.high ^ counter.word[1] ^ key0, product1.low,
                product0.high ^ counter.word[3] ^ key1, product0.low}};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return counter;
}

// The product of single words.
struct WordProduct {
  struct Wide {
    uint32_t high, low;
  };
  Wide operator()(uint32_t multiplier, uint32_t word) const {
    const uint64_t product = uint64_t{multiplier} * word;
    return {static_cast<uint32_t>(product >> 32), static_cast<uint32_t>(product)};
  }
};

}  // namespace edelta::kernels
