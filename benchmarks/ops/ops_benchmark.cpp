// Every op, forward and backward, fused against composite, at the sizes of the paper's models: the
// argument 0 is the fused implementation, 1 the composite one.
#include <functional>
#include <utility>
#include <vector>

#include "edelta/base/machine.h"
#include "edelta/ops/attention.h"
#include "edelta/ops/cross_entropy.h"
#include "edelta/ops/delta.h"
#include "edelta/ops/embedding.h"
#include "edelta/ops/geodesic.h"
#include "edelta/ops/householder.h"
#include "edelta/ops/hybrid.h"
#include "edelta/ops/implementation.h"
#include "edelta/ops/mlp.h"
#include "edelta/ops/pooling.h"
#include "edelta/ops/routing.h"
#include "edelta/ops/sinkhorn.h"
#include "edelta/ops/streams.h"
#include "edelta/ops/unitary.h"
#include "edelta/torch.h"
#include "fastest.h"

namespace edelta::ops {
namespace {

using torch::Tensor;
using Op = std::function<Tensor(const std::vector<Tensor>&)>;

constexpr int64_t kBatch = 64, kLength = 255, kWidth = 128, kHeads = 4, kStreams = 4;
constexpr int64_t kCharacters = 65, kBytePairs = 50257;

Tensor leaf(std::vector<int64_t> sizes) {
  return torch::randn(sizes, torch::TensorOptions().requires_grad(true));
}
Tensor tokens(int64_t width) { return leaf({kBatch, kLength, width}); }
Tensor vectors(int64_t width) { return leaf({kBatch, 1, width}); }

void run(benchmark::State& state, const Op& op, const std::vector<Tensor>& inputs) {
  base::set_threads(std::nullopt);
  set_implementation(state.range(0) == 0 ? Implementation::fused : Implementation::composite);
  const Tensor gradient = torch::randn_like(op(inputs));
  for (auto _ : state) {
    torch::autograd::grad({op(inputs)}, inputs, {gradient});
  }
  set_implementation(Implementation::fused);
}

// Name, op, inputs.
#define OP(name, op, ...)                                               \
  void name(benchmark::State& state) { run(state, op, {__VA_ARGS__}); } \
  BENCHMARK(name)->ArgName("composite")->Arg(0)->Arg(1)->Apply(kernels::measure)

OP(
    linear_with_norm, [](const auto& a) { return linear(a[0], {a[1], {}}, {a[2], {}}); },
    tokens(kWidth), leaf({kWidth}), leaf({3 * kWidth, kWidth}));
OP(
    linear_with_residual, [](const auto& a) { return linear(a[0], {}, {a[1], {}}, a[2]); },
    tokens(kWidth), leaf({kWidth, kWidth}), tokens(kWidth));
OP(
    whole_mlp, [](const auto& a) { return mlp(a[0], {a[1], {}}, {a[2], {}}, {a[3], {}}, a[0]); },
    tokens(kWidth), leaf({kWidth}), leaf({4 * kWidth, kWidth}), leaf({kWidth, 4 * kWidth}));
OP(attention, [](const auto& a) { return causal_attention(a[0], kHeads); }, tokens(3 * kWidth));

// What a tied token head does with its words, besides the blocks between: at both ends of a model.
Tensor tied_ends(const Tensor& words, const Tensor& positions, int64_t batch) {
  const Tensor token = torch::arange(batch * kLength).view({batch, kLength}) % words.size(0);
  const auto [x, passed_on] = embedding(token, words, positions);
  return cross_entropy(x, {}, {passed_on, {}}, token);
}
OP(
    token_ends_of_characters, [](const auto& a) { return tied_ends(a[0], a[1], kBatch); },
    leaf({kCharacters, kWidth}), leaf({kLength, kWidth}));
OP(
    token_ends_of_byte_pairs, [](const auto& a) { return tied_ends(a[0], a[1], 2); },
    leaf({kBytePairs, kWidth}), leaf({kLength, kWidth}));
OP(
    stream_mix_by_sequence, [](const auto& a) { return stream_mix(a[0], a[1]); },
    leaf({kBatch, 1, kStreams, kStreams}), tokens(kWidth));
OP(
    stream_mix_by_token, [](const auto& a) { return stream_mix(a[0], a[1]); },
    leaf({kBatch, kLength, kStreams, kStreams}), tokens(kWidth));
OP(
    aggregate, [](const auto& a) { return stream_aggregate(a[0], a[1]).y; }, tokens(kStreams),
    tokens(kStreams* kWidth));
OP(
    update, [](const auto& a) { return stream_update(a[0], a[1], a[2], a[3]); },
    leaf({kBatch, kLength, kStreams, kStreams}), tokens(kStreams* kWidth), tokens(kStreams),
    tokens(kWidth));
OP(
    sinkhorn_by_token, [](const auto& a) { return sinkhorn(a[0]); },
    leaf({kBatch, kLength, kStreams, kStreams}));
OP(
    routing_by_token,
    [](const auto& a) {
      const Routed routed = route(a[0], {a[1], a[2]}, {a[3], a[4]}, kStreams);
      return routed.update(routed.aggregate);
    },
    tokens(kStreams* kWidth), leaf({kStreams * kWidth}), leaf({kStreams * kWidth}),
    leaf({3 * kStreams * kStreams, kStreams* kWidth}), leaf({3 * kStreams * kStreams}));
OP(sequence_pooling, [](const auto& a) { return pool(a[0], Pool::sequence).y; }, tokens(kWidth));
OP(
    hybrid_by_sequence,
    [](const auto& a) { return hybrid_matrix(a[0], a[1], a[2].exp(), a[3], a[4].sigmoid()); },
    vectors(kStreams), vectors(kStreams), vectors(1), vectors(kStreams), vectors(1));
OP(
    hybrid_by_token,
    [](const auto& a) { return hybrid_matrix(a[0], a[1], a[2].exp(), a[3], a[4].sigmoid()); },
    tokens(kStreams), tokens(kStreams), tokens(1), tokens(kStreams), tokens(1));
OP(
    geodesic_by_token,
    [](const auto& a) { return geodesic_matrix(a[0], a[1], a[2].exp(), a[3], a[4].sigmoid()); },
    tokens(kStreams), tokens(kStreams), tokens(1), tokens(kStreams), tokens(1));
OP(
    unitary_by_token,
    [](const auto& a) { return unitary_matrix(a[0], a[1], a[2].exp(), a[3], a[4].sigmoid()); },
    tokens(kStreams), tokens(kStreams), tokens(1), tokens(kStreams), tokens(1));
OP(
    delta_by_sequence, [](const auto& a) { return delta(a[0], a[1], a[2]); }, vectors(kWidth),
    vectors(1), tokens(kWidth));

}  // namespace
}  // namespace edelta::ops
