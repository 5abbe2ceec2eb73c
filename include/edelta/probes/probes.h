// What a trained model does: norms, long roll-outs, its residual operators (specification 7).
#pragma once

#include "edelta/torch.h"

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "edelta/models/model.h"
#include "edelta/train/run_folder.h"

namespace edelta::probes {

// Random sequences of unit vectors go in; how long are the vectors that come out?
struct NormProbe {
  std::vector<double> mean_norm;  // over sequences, at each position
  std::vector<double> deviation;  // standard deviation over sequences, at each position
  double norm_deviation = 0;      // mean over positions of |mean norm − 1|
  double last_norm = 0;           // mean norm at the last position
};
struct NormProbeOptions {
  int64_t sequences = 50;
  int64_t positions = 100;  // at most the model's block
  uint64_t seed = 42;
};
NormProbe probe_norms(models::Model& model, const NormProbeOptions& options = {});

// `run`: where the model comes from.
nlohmann::ordered_json to_json(const NormProbe& probe, const NormProbeOptions& options,
                               const std::string& run);
// InputError that names `source` and the key; NaN for what was not finite.
NormProbe norm_probe_from_json(const nlohmann::json& json, const std::string& source);

// Predictions fed back for thousands of steps. The model sees the last `context` positions.
struct RolloutPoint {
  int64_t step = 0;
  double mean_norm = 0;
  double largest_norm = 0;
  std::optional<double> error;  // mean squared, against the true trajectory, where there is one
};
struct Rollout {
  int64_t context = 0;
  int64_t trajectories = 0;
  std::vector<RolloutPoint> points;
};
struct RolloutOptions {
  int64_t steps = 1000;
  int64_t trajectories = 8;
  int64_t context = 0;    // 0: half the model's block, at most what the data has
  int64_t points = 20;    // how many to report, evenly spaced
  std::string data = {};  // where the run's data is now, if it has moved
  std::function<void(int64_t)> on_step = {};
};
// `run` is where the model comes from: its task is generated for as long as the roll-out goes. A
// user's own data gives the truth as far as it reaches. InputError where a coordinate of the input
// is a cue, which a prediction does not have.
Rollout roll_out(models::Model& model, const train::RunManifest& run,
                 const RolloutOptions& options);

// A residual operator on streams, over the sequences and positions that were looked at.
struct OperatorSummary {
  std::string name;             // "layer 0 attention", …, "product of all"
  std::optional<double> gamma;  // mean
  double mean_determinant = 0;
  double orthogonality_error = 0;  // largest ‖GᵀG − I‖_max
  double smallest_singular = 0;    // over all: 0 means that streams collapse
  double largest_singular = 0;
  std::vector<double> eigen_angles;  // |arg λ| of each eigenvalue, sorted, averaged
};
// Empty for a model without operators on streams.
std::vector<OperatorSummary> inspect_operators(models::Model& model, const torch::Tensor& x);
// The product G_m ⋯ G₂ G₁ of operators [B, 1 or T, n, n], at least one, in the order in which the
// forward pass applies them.
OperatorSummary summarise_product(const std::vector<torch::Tensor>& operators);

nlohmann::ordered_json to_json(const std::vector<OperatorSummary>& summaries);
// InputError that names `source` and the key.
std::vector<OperatorSummary> operator_summaries_from_json(const nlohmann::json& json,
                                                          const std::string& source);

}  // namespace edelta::probes
