#include "kernels/stream.h"

#include <new>
#include <vector>

#include "fastest.h"

namespace edelta::kernels {
namespace {

constexpr int64_t kBatch = 64;
constexpr int64_t kTokens = 255;
constexpr int64_t kStreams = 4;
constexpr int64_t kAll = kBatch * kTokens;

// Tensors begin at whole cache lines; so do these.
template <typename Float>
struct CacheLineAllocator {
  using value_type = Float;
  Float* allocate(size_t count) {
    return static_cast<Float*>(::operator new(count * sizeof(Float), kLine));
  }
  void deallocate(Float* memory, size_t) { ::operator delete(memory, kLine); }
  bool operator==(const CacheLineAllocator&) const = default;

  static constexpr std::align_val_t kLine{64};
};
using Floats = std::vector<float, CacheLineAllocator<float>>;

Floats ones(int64_t count) { return Floats(count, 1.0F); }

// Floats read or written once, per iteration.
void count_bytes(benchmark::State& state, int64_t floats) {
  state.counters["B"] = benchmark::Counter(static_cast<double>(floats * sizeof(float)),
                                           benchmark::Counter::kIsIterationInvariantRate,
                                           benchmark::Counter::kIs1024);
}

void mix(benchmark::State& state, bool backward) {
  const int64_t width = state.range(0);
  const StreamMixShape shape{kBatch, kTokens, state.range(1), kStreams, width};
  const int64_t count = kAll * kStreams * width;
  const auto x = ones(count), dy = ones(count);
  const auto g = ones(kAll * kStreams * kStreams);
  auto y = ones(count), dg = g;
  for (auto _ : state) {
    if (backward) {
      stream_mix_backward({shape, x.data(), g.data(), dy.data(), y.data(), dg.data()});
    } else {
      stream_mix_forward({shape, x.data(), g.data(), y.data()});
    }
  }
  count_bytes(state, (backward ? 3 : 2) * count);
}
BENCHMARK_CAPTURE(mix, forward, false)->Args({32, 1})->Args({32, kTokens})->Apply(measure);
BENCHMARK_CAPTURE(mix, backward, true)->Args({32, 1})->Args({32, kTokens})->Apply(measure);

void update(benchmark::State& state, bool mixed, bool backward) {
  const int64_t width = state.range(0);
  const StreamShape shape{kAll, kStreams, width};
  const int64_t count = kAll * kStreams * width;
  const auto x = ones(count), y = ones(kAll * width), dupdated = ones(count);
  const auto h = ones(kAll * kStreams * kStreams), post = ones(kAll * kStreams);
  auto updated = ones(count), dy = y, dh = h, dpost = post;
  const float* operators = mixed ? h.data() : nullptr;
  for (auto _ : state) {
    if (backward) {
      stream_update_backward({shape, true, x.data(), operators, post.data(), y.data(),
                              dupdated.data(), updated.data(), dh.data(), dpost.data(), dy.data()});
    } else {
      stream_update_forward(
          {shape, true, x.data(), operators, post.data(), y.data(), updated.data()});
    }
  }
  const int64_t streams_read = backward ? (mixed ? 3 : 2) : 2;
  count_bytes(state, streams_read * count + (backward ? 2 : 1) * kAll * width);
}
BENCHMARK_CAPTURE(update, mixed_forward, true, false)->Arg(32)->Arg(128)->Apply(measure);
BENCHMARK_CAPTURE(update, mixed_backward, true, true)->Arg(32)->Arg(128)->Apply(measure);
BENCHMARK_CAPTURE(update, forward, false, false)->Arg(128)->Apply(measure);
BENCHMARK_CAPTURE(update, backward, false, true)->Arg(128)->Apply(measure);

void aggregate(benchmark::State& state, bool backward) {
  const int64_t width = state.range(0);
  const StreamShape shape{kAll, kStreams, width};
  const int64_t count = kAll * kStreams * width;
  const auto x = ones(count), da = ones(kAll * width), pre = ones(kAll * kStreams);
  auto dx = ones(count), a = da, dpre = pre;
  for (auto _ : state) {
    if (backward) {
      stream_aggregate_backward(
          {shape, x.data(), pre.data(), da.data(), nullptr, dx.data(), dpre.data()});
    } else {
      stream_aggregate_forward({shape, x.data(), pre.data(), a.data()});
    }
  }
  count_bytes(state, (backward ? 2 : 1) * count + kAll * width);
}
BENCHMARK_CAPTURE(aggregate, forward, false)->Arg(32)->Arg(128)->Apply(measure);
BENCHMARK_CAPTURE(aggregate, backward, true)->Arg(32)->Arg(128)->Apply(measure);

}  // namespace
}  // namespace edelta::kernels
