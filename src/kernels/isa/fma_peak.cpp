#include "kernels/fma_peak.h"

#include <immintrin.h>
#include <omp.h>

namespace edelta::kernels::EDELTA_ISA {
namespace {

#ifdef __AVX512F__
using Vector = __m512;
Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
Vector broadcast(float x) { return _mm512_set1_ps(x); }
#else
using Vector = __m256;
Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
Vector broadcast(float x) { return _mm256_set1_ps(x); }
#endif

constexpr int kChains = 12;  // independent chains, enough to cover the latency of two FMA units
constexpr int kRounds = 20000;

// One batch of FMAs; returns the number of floating-point operations.
double burn(Vector (&chain)[kChains]) {
  const Vector scale = broadcast(0.999F);
  const Vector shift = broadcast(0.001F);
  for (int round = 0; round < kRounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chain[i] = fma(chain[i], scale, shift);
  }
  // The empty statement makes the results observable, so the loop can't be dropped.
  for (auto& value : chain) asm volatile("" : "+x"(value));
  return 2.0 * kRounds * kChains * (sizeof(Vector) / sizeof(float));
}

}  // namespace

void fma_peak(const FmaPeak& request) {
  double total = 0;
#pragma omp parallel reduction(+ : total)
  {
    Vector chain[kChains];
    for (int i = 0; i < kChains; ++i) chain[i] = broadcast(static_cast<float>(i));
    burn(chain);
    double operations = 0;
    const double start = omp_get_wtime();
    double now = start;
    while (now - start < request.seconds) {
      operations += burn(chain);
      now = omp_get_wtime();
    }
    total += operations / (now - start);
  }
  *request.gflops = total * 1e-9;
}

}  // namespace edelta::kernels::EDELTA_ISA
