#include "kernels/route.h"

#include "kernels/fma_share.h"

namespace edelta::kernels {
namespace {

constexpr int64_t kTokens = 64 * 255;

// Streams, width of a stream, matrices of logits: JPmHC and the streamed EΔ at the paper's sizes.
void sizes(benchmark::internal::Benchmark* b) {
  b->Args({4, 128, 3})->Args({4, 128, 2})->UseRealTime()->Unit(benchmark::kMillisecond);
}

struct Sizes {
  explicit Sizes(const benchmark::State& state)
      : streams(state.range(0)),
        width(state.range(1)),
        in(streams * width),
        out(state.range(2) * streams * streams),
        mixes(state.range(2) == 3) {}
  int64_t streams, width, in, out;
  bool mixes;
};

void BM_RouteForward(benchmark::State& state) {
  const Sizes s(state);
  const auto x = filled(kTokens * s.in), weight = filled(s.out * s.in), norm = filled(s.in);
  std::vector<float> z(kTokens * s.out), mean(kTokens), rstd(kTokens);
  std::vector<float> pre(kTokens * s.streams), post(pre);
  std::vector<float> h_res(kTokens * s.streams * s.streams), aggregate(kTokens * s.width);
  RouteForward a;
  a.logits = {.tokens = kTokens, .in = s.in, .out = s.out};
  a.logits.x = x.data(), a.logits.weight = weight.data(), a.logits.norm_weight = norm.data();
  a.logits.y = z.data(), a.logits.mean = mean.data(), a.logits.rstd = rstd.data();
  a.streams = s.streams, a.pre = pre.data(), a.post = post.data(), a.aggregate = aggregate.data();
  if (s.mixes) a.h_res = h_res.data();
  for (auto _ : state) route_forward(a);
  report_rate(state, 2.0 * kTokens * s.in * s.out);
}
BENCHMARK(BM_RouteForward)->Apply(sizes);

void BM_RouteBackward(benchmark::State& state) {
  const Sizes s(state);
  const auto x = filled(kTokens * s.in), weight = filled(s.out * s.in), norm = filled(s.in);
  const auto z = filled(kTokens * s.out), pre = filled(kTokens * s.streams), dpost = pre;
  const auto h_res = filled(kTokens * s.streams * s.streams);
  const auto daggregate = filled(kTokens * s.width), dmixed = filled(kTokens * s.in);
  const std::vector<float> mean(kTokens), rstd(kTokens, 1.0F);
  std::vector<float> dx(kTokens * s.in), dweight(s.out * s.in), dnorm(s.in);
  RouteBackward a;
  a.logits = {.tokens = kTokens, .in = s.in, .out = s.out};
  a.logits.x = x.data(), a.logits.weight = weight.data(), a.logits.norm_weight = norm.data();
  a.logits.mean = mean.data(), a.logits.rstd = rstd.data();
  a.logits.dx = dx.data(), a.logits.dweight = dweight.data();
  a.logits.dnorm_weight = dnorm.data();
  a.streams = s.streams, a.z = z.data(), a.pre = pre.data(), a.dpost = dpost.data();
  a.daggregate = daggregate.data(), a.dmixed = dmixed.data();
  if (s.mixes) a.h_res = h_res.data();
  for (auto _ : state) route_backward(a);
  report_rate(state, 4.0 * kTokens * s.in * s.out);
}
BENCHMARK(BM_RouteBackward)->Apply(sizes);

}  // namespace
}  // namespace edelta::kernels
