// The factors of a dropout mask, a vector of rows at a time.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "kernels/dropout.h"
#include "kernels/isa/lanes.h"
#include "kernels/philox.h"

namespace edelta::kernels::EDELTA_ISA {

using Words = VectorOf<kLanes>::Bits;

// The product of a Philox round in every lane. The processor multiplies every second lane, so each
// product takes two, whose halves then change places.
struct LaneProduct {
  struct Wide {
    Words high, low;
  };
  typedef uint64_t Pairs __attribute__((vector_size(sizeof(Words))));

  Wide operator()(uint32_t multiplier, Words words) const {
    constexpr uint64_t kHigh = 0xFFFFFFFF00000000;
    const Pairs pairs = reinterpret_cast<Pairs>(words);
    const Pairs even = low_products(pairs, multiplier);
    const Pairs odd = low_products(pairs >> 32, multiplier);
    return {reinterpret_cast<Words>((even >> 32) | (odd & kHigh)),
            reinterpret_cast<Words>((even & ~kHigh) | (odd << 32))};
  }

 private:
  // Of the low halves of the pairs.
  static Pairs low_products(Pairs pairs, uint32_t multiplier) {
#ifdef __AVX512F__
    // The plain intrinsic starts from an uninitialised vector, of which GCC 12 warns.
    constexpr __mmask8 kAll = 0xFF;
    return reinterpret_cast<Pairs>(_mm512_maskz_mul_epu32(kAll, reinterpret_cast<__m512i>(pairs),
                                                          _mm512_set1_epi64(multiplier)));
#else
    return reinterpret_cast<Pairs>(
        _mm256_mul_epu32(reinterpret_cast<__m256i>(pairs), _mm256_set1_epi64x(multiplier)));
#endif
  }
};

// 0 where the bits are below the threshold, the scale elsewhere.
static inline Lanes factor_of(const DropoutMask& mask, Words bits) {
  typedef int32_t Integers __attribute__((vector_size(sizeof(Lanes))));
  // Sixteen bits are positive as signed numbers, which are what AVX2 compares.
  return reinterpret_cast<Integers>(bits) < static_cast<int32_t>(mask.threshold)
             ? Lanes{}
             : Lanes{} + mask.scale;
}

// factors[kDropoutBlock × rows], transposed: line c holds column c of the block for the rows from
// `first_row` on. Whole vectors are written.
static inline void draw_factors(const DropoutMask& mask, int64_t plane, int64_t first_row,
                                int64_t rows, int64_t block, float* factors, int64_t stride) {
  Words lane;
  for (int i = 0; i < kLanes; ++i) lane[i] = static_cast<uint32_t>(i);
  for (int64_t r = 0; r < rows; r += kLanes) {
    const PhiloxWords<Words> bits = philox4x32<Words>(
        {{Words{} + static_cast<uint32_t>(block), lane + static_cast<uint32_t>(first_row + r),
          Words{} + static_cast<uint32_t>(plane), Words{} + mask.site}},
        static_cast<uint32_t>(mask.key), static_cast<uint32_t>(mask.key >> 32), LaneProduct());
    for (int64_t i = 0; i < kDropoutBlock / 2; ++i) {
      store(factors + 2 * i * stride + r, factor_of(mask, bits.word[i] & 0xFFFFU));
      store(factors + (2 * i + 1) * stride + r, factor_of(mask, bits.word[i] >> 16));
    }
  }
}

}  // namespace edelta::kernels::EDELTA_ISA
