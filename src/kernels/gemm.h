// Small matrix products for the tiles of the fused kernels.
//
// libxsmm generates a kernel for each shape at run time and reaches the machine's FMA peak on tiles
// that stay in cache. It is column-major; reading our row-major matrices as their transposes turns
// C = A·B into Cᵀ = Bᵀ·Aᵀ, so the operands swap and nothing is copied. Its generator has no kernel
// for a transposed left operand in its own order, so B is never transposed here: pack it once.
#pragma once

#include <cstdint>

namespace edelta::kernels {

// C[m×n] = op(A)[m×k] · B[k×n], or C += …; all row-major, op(A) = A or Aᵀ (then A is stored k×m).
// Building one looks up (or generates) the code: build it outside the loop over tiles.
class Gemm {
 public:
  enum class A { plain, transposed };
  enum class C { overwrite, accumulate };
  struct Strides {
    int64_t a, b, c;  // floats from one row to the next
  };

  Gemm(int64_t m, int64_t n, int64_t k, Strides strides, A a = A::plain, C c = C::overwrite);

  void operator()(const float* a, const float* b, float* c) const {
    if (generated_ != nullptr) {
      generated_(b, a, c);
    } else {
      generic(a, b, c);
    }
  }

 private:
  // The path for CPUs or shapes for which libxsmm generates nothing.
  void generic(const float* a, const float* b, float* c) const;

  using Generated = void (*)(const float*, const float*, float*, ...);
  Generated generated_ = nullptr;
  int64_t m_, n_, k_;
  Strides strides_;
  A a_;
  C c_;
};

}  // namespace edelta::kernels
