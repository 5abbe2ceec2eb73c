#include "kernels/adamw.h"

#include "kernels/fma_share.h"

namespace edelta::kernels {
namespace {

// As many floats as the paper's models have parameters, in tensors of the usual sizes.
struct Model {
  Model() : p(filled(kCount)), g(filled(kCount)), m(filled(kCount)), v(kCount, 1e-4F) {
    for (int64_t at = 0; at < kCount; at += kTensor) {
      const int64_t count = std::min(kTensor, kCount - at);
      segments.push_back({&p[at], &g[at], &m[at], &v[at], count, 0.1F});
    }
  }
  static constexpr int64_t kCount = 1'780'000;
  static constexpr int64_t kTensor = 20'000;
  std::vector<float> p, g, m, v;
  std::vector<ParameterSegment> segments;
};

void BM_AdamWStep(benchmark::State& state) {
  Model model;
  AdamWStep a;
  a.segments = model.segments.data();
  a.segment_count = static_cast<int64_t>(model.segments.size());
  for (auto _ : state) adamw_step(a);
  state.SetBytesProcessed(state.iterations() * Model::kCount * 7 * 4);  // reads 4, writes 3
}
BENCHMARK(BM_AdamWStep)->UseRealTime()->Unit(benchmark::kMillisecond);

void BM_SquaredNorm(benchmark::State& state) {
  Model model;
  double total = 0;
  const SquaredNorm a{model.segments.data(), static_cast<int64_t>(model.segments.size()), &total,
                      nullptr};
  for (auto _ : state) squared_norm(a);
  state.SetBytesProcessed(state.iterations() * Model::kCount * 4);
}
BENCHMARK(BM_SquaredNorm)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace edelta::kernels
