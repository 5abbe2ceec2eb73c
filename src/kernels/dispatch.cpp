// The one place where a kernel's instruction set is chosen.
#include <stdexcept>

#include "edelta/kernels/adamw.h"
#include "edelta/kernels/attention.h"
#include "edelta/kernels/cpu.h"
#include "edelta/kernels/fma_peak.h"
#include "edelta/kernels/linear.h"
#include "edelta/kernels/mlp.h"
#include "edelta/kernels/stream.h"
#include "edelta/kernels/token_operator.h"

// Each kernel is a function of one argument struct: kernel name, argument type.
#define EDELTA_KERNELS(X)                               \
  X(fma_peak, FmaPeak)                                  \
  X(linear_forward, LinearForward)                      \
  X(linear_backward, LinearBackward)                    \
  X(mlp_forward, MlpForward)                            \
  X(mlp_backward, MlpBackward)                          \
  X(attention_forward, AttentionForward)                \
  X(attention_backward, AttentionBackward)              \
  X(stream_mix_forward, StreamMixForward)               \
  X(stream_mix_backward, StreamMixBackward)             \
  X(stream_update_forward, StreamUpdateForward)         \
  X(stream_update_backward, StreamUpdateBackward)       \
  X(stream_aggregate_forward, StreamAggregateForward)   \
  X(stream_aggregate_backward, StreamAggregateBackward) \
  X(sinkhorn_forward, SinkhornForward)                  \
  X(sinkhorn_backward, SinkhornBackward)                \
  X(iterative_cayley_forward, IterativeCayleyForward)   \
  X(iterative_cayley_backward, IterativeCayleyBackward) \
  X(mixer_weights_forward, MixerWeightsForward)         \
  X(mixer_weights_backward, MixerWeightsBackward)       \
  X(adamw_step, AdamWStep)                              \
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
