// What a model is: a plain struct that round-trips through JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "edelta/geometry/gate.h"
#include "edelta/geometry/hybrid.h"
#include "edelta/ops/pooling.h"

namespace edelta::models {

enum class Head {
  continuous,  // vectors in, vectors out, mean squared error
  token        // tokens in, logits out, cross-entropy
};

// How H_pre/H_post start, and with them the routers of JPmHC and the streamed model (SPEC 9).
enum class ProjectionInit {
  normal,   // N(0, 0.02²), as in the published code
  identity  // the identity (routers: zero), as in the paper's text
};

// The JSON keys have the names of the members.
struct ModelConfig {
  std::string model = "edelta";  // an architecture of the registry
  Head head = Head::continuous;
  int64_t n_layer = 6;
  int64_t n_embd = 128;  // D
  int64_t n_head = 4;
  int64_t n_streams = 4;     // n
  int64_t block_size = 256;  // the longest sequence
  int64_t input_dim = 16;    // continuous head
  int64_t vocab_size = 256;  // token head
  bool bias = false;         // of the transformer's linear layers and norms
  double dropout = 0;

  geometry::Branch branch = geometry::Branch::hybrid;
  geometry::GeneratorKind generator = geometry::GeneratorKind::data;
  ops::Pool pool = ops::Pool::sequence;
  geometry::Blend blend = geometry::Blend::linear;
  ProjectionInit projection_init = ProjectionInit::normal;
  int64_t geo_hidden_ratio = 4;  // the generator nets' hidden width is D over this
  int64_t geo_hidden_dim = 16;   // the hidden width of edelta-stream's fused net
  double init_gate_bias = 0;
  double gate_reg_weight = 0.1;  // λ
  geometry::GateRegulariser gate_regulariser = geometry::GateRegulariser::product;
  int64_t sinkhorn_iterations = 20;
  double cayley_alpha = 0.1;  // JPmHC's iteration
  int64_t cayley_iterations = 2;

  int64_t stream_width() const { return n_embd / n_streams; }  // d
};

// Throws InputError that names the key when a value is impossible.
void validate(const ModelConfig& config);

nlohmann::ordered_json to_json(const ModelConfig& config);

// Absent keys keep their defaults; unknown keys, wrong types and impossible values are InputErrors.
// Strings are taken for numbers and booleans too ("4", "true"): trace files store their
// configuration as text. `source` names where the JSON came from; keys in `ignored` are passed
// over.
ModelConfig model_config_from_json(const nlohmann::json& json, const std::string& source,
                                   const std::set<std::string>& ignored = {});

// The configurations with matched parameter counts that the paper compares.
ModelConfig matched_config(const std::string& model);

}  // namespace edelta::models
