// exp2_of_negative as AVX-512 has it, which scales by powers of two in an instruction of its own.
// Compiled for AVX-512, so nothing may come in here that other files share: the linker keeps one
// copy of it.
#define EDELTA_ISA avx512_header
#include "kernels/exp2_avx512.h"

#include "kernels/isa/vector_exp.h"

namespace edelta::kernels {

float exp2_of_negative_avx512(float x) {
  using namespace avx512_header;
  static_assert(kLanes == 16);
  return exp2_of_negative(Lanes{} + x)[kLanes - 1];
}

}  // namespace edelta::kernels
