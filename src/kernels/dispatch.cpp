// The one place where a kernel's instruction set is chosen.
#include <stdexcept>

#include "edelta/kernels/adamw.h"
#include "edelta/kernels/cpu.h"
#include "edelta/kernels/fma_peak.h"
#include "edelta/kernels/linear.h"
#include "edelta/kernels/mlp.h"

// Each kernel is a function of one argument struct: kernel name, argument type.
#define EDELTA_KERNELS(X)            \
  X(fma_peak, FmaPeak)               \
  X(linear_forward, LinearForward)   \
  X(linear_backward, LinearBackward) \
  X(mlp_forward, MlpForward)         \
  X(mlp_backward, MlpBackward)       \
  X(adamw_step, AdamWStep)           \
  X(squared_norm, SquaredNorm)

#define DECLARE(name, Arguments) void name(const Arguments&);
namespace edelta::kernels::avx2 {
EDELTA_KERNELS(DECLARE)
}
namespace edelta::kernels::avx512 {
EDELTA_KERNELS(DECLARE)
}

#define DISPATCH(name, Arguments)                                               \
  void name(const Arguments& arguments) {                                       \
    switch (isa()) {                                                            \
      case Isa::avx512:                                                         \
        return avx512::name(arguments);                                         \
      case Isa::avx2:                                                           \
        return avx2::name(arguments);                                           \
      case Isa::none:                                                           \
        break;                                                                  \
    }                                                                           \
    throw std::runtime_error("the fused kernels need a CPU with AVX2 and FMA"); \
  }
namespace edelta::kernels {
EDELTA_KERNELS(DISPATCH)
}
