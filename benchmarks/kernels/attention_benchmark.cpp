#include "kernels/attention.h"

#include <random>
#include <vector>

#include "fastest.h"

namespace edelta::kernels {
namespace {

struct Tensors {
  explicit Tensors(const AttentionShape& shape)
      : qkv(shape.batch * shape.tokens * 3 * shape.heads * shape.head_size),
        dqkv(qkv.size()),
        out(qkv.size() / 3),
        dout(qkv.size() / 3),
        lse(shape.batch * shape.heads * shape.tokens) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (auto* values : {&qkv, &dout}) {
      for (float& value : *values) value = normal(random);
    }
  }
  std::vector<float> qkv, dqkv, out, dout, lse;
};

AttentionShape shape_of(const benchmark::State& state) {
  return {state.range(0), state.range(1), state.range(2), state.range(3)};
}

// Half the square of scores, two products of 2·s operations for each in the forward pass.
void count_flops(benchmark::State& state, double relative_to_forward) {
  const auto [batch, tokens, heads, size] = shape_of(state);
  state.counters["FLOP"] =
      benchmark::Counter(relative_to_forward * 2.0 * batch * heads * tokens * tokens * size,
                         benchmark::Counter::kIsIterationInvariantRate);
}

void forward(benchmark::State& state) {
  Tensors tensors(shape_of(state));
  for (auto _ : state) {
    attention_forward(
        {shape_of(state), tensors.qkv.data(), tensors.out.data(), tensors.lse.data()});
  }
  count_flops(state, 1);
}

void backward(benchmark::State& state) {
  Tensors tensors(shape_of(state));
  attention_forward({shape_of(state), tensors.qkv.data(), tensors.out.data(), tensors.lse.data()});
  for (auto _ : state) {
    attention_backward({shape_of(state), tensors.qkv.data(), tensors.out.data(), tensors.lse.data(),
                        tensors.dout.data(), tensors.dqkv.data()});
  }
  count_flops(state, 2.5);
}

void shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"B", "T", "h", "s"})
      ->Args({64, 255, 4, 32})
      ->Args({64, 127, 4, 32})
      ->Args({2, 2048, 4, 64})
      ->Apply(measure);
}
BENCHMARK(forward)->Name("attention_forward")->Apply(shapes);
BENCHMARK(backward)->Name("attention_backward")->Apply(shapes);

}  // namespace
}  // namespace edelta::kernels
