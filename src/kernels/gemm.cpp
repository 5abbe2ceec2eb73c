#include "kernels/gemm.h"

#include <libxsmm.h>

#include <algorithm>

namespace edelta::kernels {

Gemm::Gemm(int64_t m, int64_t n, int64_t k, Strides strides, A a, C c)
    : m_(m), n_(n), k_(k), strides_(strides), a_(a), c_(c) {
  if (m <= 0 || n <= 0 || k <= 0) return;
  const auto lda = static_cast<libxsmm_blasint>(strides.b);
  const auto ldb = static_cast<libxsmm_blasint>(strides.a);
  const auto ldc = static_cast<libxsmm_blasint>(strides.c);
  const float alpha = 1;
  const float beta = c == C::accumulate ? 1 : 0;
  const int flags = a == A::transposed ? LIBXSMM_GEMM_FLAG_TRANS_B : LIBXSMM_GEMM_FLAG_NONE;
  generated_ = libxsmm_smmdispatch(static_cast<libxsmm_blasint>(n), static_cast<libxsmm_blasint>(m),
                                   static_cast<libxsmm_blasint>(k), &lda, &ldb, &ldc, &alpha, &beta,
                                   &flags, nullptr);
}

void Gemm::generic(const float* a, const float* b, float* c) const {
  for (int64_t i = 0; i < m_; ++i) {
    float* row = c + i * strides_.c;
    if (c_ == C::overwrite) std::fill_n(row, n_, 0.0F);
    for (int64_t p = 0; p < k_; ++p) {
      const float left = a_ == A::plain ? a[i * strides_.a + p] : a[p * strides_.a + i];
      const float* right = b + p * strides_.b;
#pragma omp simd
      for (int64_t j = 0; j < n_; ++j) row[j] += left * right[j];
    }
  }
}

}  // namespace edelta::kernels
