// exp in float32 without branches or tables, for vectors and for `omp simd` loops.
#pragma once

#include <immintrin.h>

#include "kernels/isa/lanes.h"

namespace edelta::kernels::EDELTA_ISA {

// e^r for |r| ≤ ln2/2.
template <typename V>
inline V short_exp(V r) {
  V p = r * 1.9875691500e-4F + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  return p * (r * r) + r + 1.0F;
}

// Within 2 units in the last place. 0 below −87.33 (where float32 would turn subnormal), infinity
// above 88.37, NaN stays NaN.
template <typename V>
inline V vector_exp(V x) {
  using Bits = typename VectorOf<kWidthOf<V>>::Bits;
  // Adding 1.5·2²³ rounds to an integer, which then sits in the low bits.
  constexpr float kRound = 12582912.0F;
  const V shifted = x * 1.44269504F + kRound;
  const V power = shifted - kRound;
  // ln 2 in two parts, the first short enough for an exact product: |r| ≤ ln2/2.
  const V r = (x - power * 0.693359375F) + power * 2.12194440e-4F;
  const Bits exponent = (__builtin_bit_cast(Bits, shifted) << 23) + (127U << 23);
  const V result = short_exp(r) * __builtin_bit_cast(V, exponent);
  const V finite = x < -87.3365F ? V{} : result;
  return x > 88.37F ? V{} + __builtin_inff() : finite;
}

// 2^f for |f| ≤ ½; the polynomial is within 2e-9 relatively, so that rounding alone remains.
template <typename V>
inline V short_exp2(V f) {
  V p = f * 1.53458122e-4F + 1.33999312e-3F;
  p = p * f + 9.61848896e-3F;
  p = p * f + 5.55032878e-2F;
  p = p * f + 2.40226469e-1F;
  p = p * f + 6.93147206e-1F;
  return p * f + 1.0F;
}

// 2^x for −126 < x ≤ 0. NaN stays NaN.
template <typename V>
inline V normal_exp2(V x) {
  using Bits = typename VectorOf<kWidthOf<V>>::Bits;
  constexpr float kRound = 12582912.0F;  // as above
  const V shifted = x + kRound;
  const V f = x - (shifted - kRound);
  return __builtin_bit_cast(
      V, __builtin_bit_cast(Bits, short_exp2(f)) + (__builtin_bit_cast(Bits, shifted) << 23));
}

// 2^x for x ≤ 0, −∞ included: 0 where float32 would turn subnormal. NaN stays NaN.
template <typename V>
inline V exp2_of_negative(V x) {
#ifdef __AVX512F__
  static_assert(kWidthOf<V> == kLanes);
  // The lanes that are 0 are left out of the scaling, and not scaled down to 0: some processors
  // take long over a result that underflows. "Not less or equal", so that a NaN is scaled.
  const __mmask16 normal = _mm512_cmp_ps_mask(x, V{} - 126.0F, _CMP_NLE_UQ);
  const V power = _mm512_maskz_roundscale_ps(__mmask16{0xFFFF}, x, _MM_FROUND_TO_NEAREST_INT);
  return _mm512_maskz_scalef_ps(normal, short_exp2(x - power), power);
#else
  return x <= -126.0F ? V{} : normal_exp2(x);
#endif
}

}  // namespace edelta::kernels::EDELTA_ISA
