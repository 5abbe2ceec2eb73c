// How fast models generate, and how near that is to what the machine allows.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "edelta/models/config.h"

namespace edelta::bench {

struct GenerationBench {
  std::string model;
  int64_t parameters = 0;
  int64_t weights = 0;        // floats that a token is multiplied with, after folding
  double step = 0;            // seconds a token: the mean over positions of the fastest one each
  double prefill = 0;         // seconds of a prompt as long as the block
  double recomputed = 0;      // seconds of a token at the end of a block without a state
  double read_bandwidth = 0;  // bytes a second, of memory as large as the weights
  double peak_gflops = 0;     // FMA

  // What a token takes at least: its weights read once, or multiplied at the FMA peak.
  double limit() const;
};

// A model on tokens of the architecture's matched size, causal, of this block size and vocabulary.
models::ModelConfig generation_config(const std::string& model, int64_t length, int64_t vocab_size);

GenerationBench bench_generation(const models::ModelConfig& config, int64_t repetitions);

nlohmann::ordered_json to_json(const GenerationBench& bench);

}  // namespace edelta::bench
