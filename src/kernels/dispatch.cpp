// The one place where a kernel's instruction set is chosen.
#include <atomic>
#include <chrono>
#include <stdexcept>

#include "kernels/adamw.h"
#include "kernels/attention.h"
#include "kernels/cached_attention.h"
#include "kernels/cpu.h"
#include "kernels/cross_entropy.h"
#include "kernels/delta.h"
#include "kernels/dropout.h"
#include "kernels/embedding.h"
#include "kernels/few_rows.h"
#include "kernels/fma_peak.h"
#include "kernels/geodesic.h"
#include "kernels/hybrid.h"
#include "kernels/iterative_cayley.h"
#include "kernels/linear.h"
#include "kernels/mixer_weights.h"
#include "kernels/mlp.h"
#include "kernels/pooling.h"
#include "kernels/profile.h"
#include "kernels/read_sweep.h"
#include "kernels/rms_norm.h"
#include "kernels/route.h"
#include "kernels/sinkhorn.h"
#include "kernels/stream.h"
#include "kernels/swiglu.h"
#include "kernels/token_hybrid.h"
#include "kernels/unitary.h"

// Each kernel is a function of one argument struct: kernel name, argument type.
#define EDELTA_KERNELS(X)                               \
  X(fma_peak, FmaPeak)                                  \
  X(read_sweep, ReadSweep)                              \
  X(linear_forward, LinearForward)                      \
  X(linear_backward, LinearBackward)                    \
  X(mlp_forward, MlpForward)                            \
  X(mlp_backward, MlpBackward)                          \
  X(swiglu_forward, SwiGluForward)                      \
  X(swiglu_backward, SwiGluBackward)                    \
  X(position_swiglu_forward, PositionSwiGluForward)     \
  X(position_swiglu_backward, PositionSwiGluBackward)   \
  X(rms_norm_forward, RmsNormForward)                   \
  X(rms_norm_backward, RmsNormBackward)                 \
  X(attention_forward, AttentionForward)                \
  X(attention_backward, AttentionBackward)              \
  X(embedding_forward, EmbeddingForward)                \
  X(embedding_backward, EmbeddingBackward)              \
  X(cross_entropy, CrossEntropy)                        \
  X(drop_rows, DropRows)                                \
  X(linear_few_rows, LinearForward)                     \
  X(mlp_few_rows, MlpForward)                           \
  X(cached_attention, CachedAttention)                  \
  X(sequence_mean_forward, SequenceMeanForward)         \
  X(sequence_mean_backward, SequenceMeanBackward)       \
  X(prefix_mean_forward, PrefixMeanForward)             \
  X(prefix_mean_backward, PrefixMeanBackward)           \
  X(hybrid_forward, HybridForward)                      \
  X(hybrid_backward, HybridBackward)                    \
  X(token_hybrid_forward, TokenHybridForward)           \
  X(token_hybrid_backward, TokenHybridBackward)         \
  X(geodesic_forward, HybridForward)                    \
  X(geodesic_backward, HybridBackward)                  \
  X(unitary_forward, HybridForward)                     \
  X(unitary_backward, HybridBackward)                   \
  X(delta_forward, DeltaForward)                        \
  X(delta_backward, DeltaBackward)                      \
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
  X(route_forward, RouteForward)                        \
  X(route_backward, RouteBackward)                      \
  X(adamw_step, AdamWStep)                              \
  X(squared_norm, SquaredNorm)

#define DECLARE(name, Arguments) void name(const Arguments&);
namespace edelta::kernels::avx2 {
EDELTA_KERNELS(DECLARE)
}
namespace edelta::kernels::avx512 {
EDELTA_KERNELS(DECLARE)
}

namespace edelta::kernels {
namespace {

using Clock = std::chrono::steady_clock;

struct Counter {
  const char* name;
  std::atomic<int64_t> calls{0};
  std::atomic<int64_t> nanoseconds{0};
};

#define INDEX(name, Arguments) k_##name,
enum KernelIndex { EDELTA_KERNELS(INDEX) };

#define COUNTER(name, Arguments) {#name},
Counter counters[] = {EDELTA_KERNELS(COUNTER)};
std::atomic<bool> profiling{false};

// Adds the life of the object to a counter while a profile is taken.
class Timed {
 public:
  explicit Timed(Counter& counter) : counter_(profiling ? &counter : nullptr) {
    if (counter_ != nullptr) start_ = Clock::now();
  }
  ~Timed() {
    if (counter_ == nullptr) return;
    const auto spent = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_);
    counter_->nanoseconds += spent.count();
    ++counter_->calls;
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  Counter* counter_;
  Clock::time_point start_;
};

}  // namespace

void start_profile() {
  for (Counter& counter : counters) counter.calls = counter.nanoseconds = 0;
  profiling = true;
}

std::vector<KernelTime> stop_profile() {
  profiling = false;
  std::vector<KernelTime> times;
  for (const Counter& counter : counters) {
    if (counter.calls == 0) continue;
    times.push_back({counter.name, counter.calls, 1e-9 * static_cast<double>(counter.nanoseconds)});
  }
  return times;
}

#define DISPATCH(name, Arguments)                                               \
  void name(const Arguments& arguments) {                                       \
    const Timed timed(counters[k_##name]);                                      \
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
EDELTA_KERNELS(DISPATCH)

}  // namespace edelta::kernels
