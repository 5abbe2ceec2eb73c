#include "kernels/swiglu.h"

#include "kernels/fma_share.h"

namespace edelta::kernels {
namespace {

// tokens, width, inner: a small recursive model's, and one of its streams'.
void sizes(benchmark::internal::Benchmark* b) {
  b->Args({6208, 128, 512})->Args({6208, 32, 256})->UseRealTime()->Unit(benchmark::kMillisecond);
}

// batch, positions, channels, inner
void position_sizes(benchmark::internal::Benchmark* b) {
  b->Args({64, 97, 128, 512})->UseRealTime()->Unit(benchmark::kMillisecond);
}

struct Weights {
  Weights(int64_t width, int64_t inner)
      : gate_up(filled(2 * inner * width)), down(filled(width * inner)) {}
  std::vector<float> gate_up, down;
};

void BM_SwiGluForward(benchmark::State& state) {
  const int64_t tokens = state.range(0), width = state.range(1), inner = state.range(2);
  const Weights weights(width, inner);
  const auto x = filled(tokens * width);
  std::vector<float> y(tokens * width);
  const SwiGluForward a{.tokens = tokens,
                        .width = width,
                        .inner = inner,
                        .x = x.data(),
                        .gate_up = weights.gate_up.data(),
                        .down = weights.down.data(),
                        .normed = true,
                        .y = y.data()};
  for (auto _ : state) swiglu_forward(a);
  report_rate(state, 6.0 * tokens * width * inner);
}
BENCHMARK(BM_SwiGluForward)->Apply(sizes);

void BM_SwiGluBackward(benchmark::State& state) {
  const int64_t tokens = state.range(0), width = state.range(1), inner = state.range(2);
  const Weights weights(width, inner);
  Weights gradients(width, inner);
  const auto x = filled(tokens * width), dy = filled(tokens * width), y = filled(tokens * width);
  const auto pre = filled(tokens * 2 * inner);
  const std::vector<float> rstd(tokens, 1.0F);
  std::vector<float> dx(tokens * width);
  const SwiGluBackward a{.tokens = tokens,
                         .width = width,
                         .inner = inner,
                         .x = x.data(),
                         .gate_up = weights.gate_up.data(),
                         .down = weights.down.data(),
                         .pre_activation = pre.data(),
                         .y = y.data(),
                         .rstd = rstd.data(),
                         .dy = dy.data(),
                         .dx = dx.data(),
                         .dgate_up = gradients.gate_up.data(),
                         .ddown = gradients.down.data()};
  for (auto _ : state) swiglu_backward(a);
  report_rate(state, 12.0 * tokens * width * inner);
}
BENCHMARK(BM_SwiGluBackward)->Apply(sizes);

void BM_PositionSwiGluForward(benchmark::State& state) {
  const PositionSwiGluShape shape{state.range(0), state.range(1), state.range(2), state.range(3)};
  const int64_t count = shape.batch * shape.positions * shape.channels;
  const Weights weights(shape.positions, shape.inner);
  const auto x = filled(count);
  std::vector<float> y(count);
  const PositionSwiGluForward a{.shape = shape,
                                .x = x.data(),
                                .gate_up = weights.gate_up.data(),
                                .down = weights.down.data(),
                                .y = y.data()};
  for (auto _ : state) position_swiglu_forward(a);
  report_rate(state, 6.0 * count * shape.inner);
}
BENCHMARK(BM_PositionSwiGluForward)->Apply(position_sizes);

void BM_PositionSwiGluBackward(benchmark::State& state) {
  const PositionSwiGluShape shape{state.range(0), state.range(1), state.range(2), state.range(3)};
  const int64_t count = shape.batch * shape.positions * shape.channels;
  const Weights weights(shape.positions, shape.inner);
  Weights gradients(shape.positions, shape.inner);
  const auto x = filled(count), dy = filled(count), y = filled(count);
  const auto pre = filled(shape.batch * shape.channels * 2 * shape.inner);
  const std::vector<float> rstd(shape.batch * shape.channels, 1.0F);
  std::vector<float> dx(count);
  const PositionSwiGluBackward a{.shape = shape,
                                 .x = x.data(),
                                 .gate_up = weights.gate_up.data(),
                                 .down = weights.down.data(),
                                 .pre_activation = pre.data(),
                                 .y = y.data(),
                                 .rstd = rstd.data(),
                                 .dy = dy.data(),
                                 .dx = dx.data(),
                                 .dgate_up = gradients.gate_up.data(),
                                 .ddown = gradients.down.data()};
  for (auto _ : state) position_swiglu_backward(a);
  report_rate(state, 12.0 * count * shape.inner);
}
BENCHMARK(BM_PositionSwiGluBackward)->Apply(position_sizes);

}  // namespace
}  // namespace edelta::kernels
