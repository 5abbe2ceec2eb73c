#include "bench/generation.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <vector>

#include "bench/fastest.h"
#include "edelta/base/machine.h"
#include "edelta/infer/decoder.h"
#include "edelta/models/architecture_options.h"
#include "edelta/models/registry.h"
#include "edelta/torch.h"
#include "kernels/read_sweep.h"

namespace edelta::bench {
namespace {

using Clock = std::chrono::steady_clock;

template <class Work>
double seconds_of(const Work& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Bytes a second of one sweep over memory that has been read before.
double read_bandwidth(const torch::Tensor& memory) {
  float sum = 0;
  constexpr int kSweeps = 8;
  double best = 1e9;
  for (int i = 0; i < kSweeps; ++i) {
    best = std::min(best, seconds_of([&] {
                      kernels::read_sweep({memory.data_ptr<float>(), memory.numel(), &sum});
                    }));
  }
  return static_cast<double>(memory.numel()) * sizeof(float) / best;
}

}  // namespace

double GenerationBench::limit() const {
  const auto count = static_cast<double>(weights);
  return std::max(sizeof(float) * count / read_bandwidth, 2 * count / (1e9 * peak_gflops));
}

models::ModelConfig generation_config(const std::string& model, int64_t length,
                                      int64_t vocab_size) {
  models::ModelConfig config = models::matched_config(model);
  config.head = models::Head::token;
  config.block_size = length;
  config.vocab_size = vocab_size;
  if (has_option(models::find_architecture(model), "pool")) {
    config.options.get<models::PoolOptions>().pool = ops::Pool::prefix;
  }
  validate(config);
  return config;
}

GenerationBench bench_generation(const models::ModelConfig& config, int64_t repetitions) {
  const auto model = models::make_model(config);
  GenerationBench bench{.model = config.model, .parameters = model->parameter_count()};
  // A training step counts 6 operations for each weight that a token meets; of one position there
  // is no attention to speak of.
  bench.weights = static_cast<int64_t>(1e9 * model->step_gflop(1, 1) / 6);
  const auto decoder = infer::make_decoder(model);
  const auto plain = infer::make_decoder(model, 1, infer::Way::recompute);
  const std::vector<int32_t> tokens(config.block_size);
  const std::span<const int32_t> one(tokens.data(), 1);
  const torch::Tensor memory = torch::ones({bench.weights});
  std::vector<double> positions(config.block_size - 1);  // seconds of each
  // Interleaved, so that a machine that is busy for a while slows all of them.
  for (int64_t i = 0; i < repetitions; ++i) {
    bench.peak_gflops = std::max(bench.peak_gflops, base::measure_fma_peak(0.05));
    bench.read_bandwidth = std::max(bench.read_bandwidth, read_bandwidth(memory));
    keep_fastest(bench.prefill, seconds_of([&] { decoder->start(tokens); }));
    decoder->start(one);
    for (double& fastest : positions) {
      keep_fastest(fastest, seconds_of([&] { decoder->step(one); }));
    }
    keep_fastest(bench.recomputed, seconds_of([&] { plain->start(tokens); }));
  }
  bench.step = std::accumulate(positions.begin(), positions.end(), 0.0) /
               static_cast<double>(positions.size());
  return bench;
}

nlohmann::ordered_json to_json(const GenerationBench& bench) {
  return {{"model", bench.model},
          {"parameters", bench.parameters},
          {"weights", bench.weights},
          {"tokens_per_second", 1 / bench.step},
          {"step_s", bench.step},
          {"prefill_s", bench.prefill},
          {"recomputed_s", bench.recomputed},
          {"read_bytes_per_second", bench.read_bandwidth},
          {"peak_gflops", bench.peak_gflops},
          {"limit_s", bench.limit()},
          {"share_of_limit", bench.limit() / bench.step}};
}

}  // namespace edelta::bench
