// The depth probe (specification 7): does the residual path keep signal and gradient as layers are
// added, or lose them?
#pragma once

#include "edelta/torch.h"

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "edelta/models/model.h"

namespace edelta::probes {

// What all residual operators on streams do together, over the sequences and positions that were
// looked at.
struct ResidualProduct {
  double smallest_singular = 0;
  double largest_singular = 0;
  double orthogonality_error = 0;  // largest ‖PᵀP − I‖_max
};

// The residual stream x_0 … x_L of a model: what is embedded, and what every block leaves.
struct DepthProfile {
  double loss = 0;                    // the task's, over all sequences
  std::vector<double> signal = {};    // mean over tokens of ‖x_l‖ / ‖x_0‖
  std::vector<double> gradient = {};  // ‖∂loss/∂x_l‖ / ‖∂loss/∂x_L‖
  // Mean cosine over pairs of a sequence's tokens, and of a token's streams; empty where there is
  // only one.
  std::vector<double> token_cosine = {}, stream_cosine = {};
  std::optional<ResidualProduct> product = {};  // of operators on streams, where there are any
};
// The loss over all of x and y [N, T, dim]; everything else on the first `sequences`, in evaluation
// mode, in which it leaves the model. InputError for a model that does not show its residual
// stream.
DepthProfile profile_depth(models::Model& model, const torch::Tensor& x, const torch::Tensor& y,
                           int64_t sequences);

struct DepthProgress {
  std::string model = {};
  int64_t layers = 0;
  int64_t done = 0, runs = 0;  // models of some depth
  int64_t iteration = 0, iterations = 0;
};
struct DepthProbeOptions {
  std::vector<std::string> models = {};  // architectures; empty: all
  std::vector<int64_t> layers = {6, 24, 96};
  // Settings by key, over the preset's: each model takes those that it has.
  nlohmann::json model_settings = {{"n_embd", 64}};
  nlohmann::json task_settings = nlohmann::json::object();
  std::string task = "reversal";
  std::string preset = "quick";  // of the training: the task's sizes and the protocol
  int64_t iterations = 0;        // of training after the first look; 0: none
  int64_t sequences = 16;        // to look at
  uint64_t seed = 42;
  std::function<void(const DepthProgress&)> on_progress = {};
};

// One model of one depth, at its initial weights and after a training.
struct DepthRun {
  std::string model;
  int64_t layers = 0;
  DepthProfile start = {};
  std::optional<DepthProfile> trained = {};
};

// Every model with every depth. InputError for impossible options, before any work; Failure where a
// training's loss or gradient is not finite.
std::vector<DepthRun> probe_depth(const DepthProbeOptions& options);

nlohmann::ordered_json to_json(const std::vector<DepthRun>& runs, const DepthProbeOptions& options);
// The runs that to_json() wrote; InputError that names `source` and the key, NaN for what was not
// finite.
std::vector<DepthRun> depth_runs_from_json(const nlohmann::json& json, const std::string& source);

}  // namespace edelta::probes
