#include "edelta/probes/probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/random.h"
#include "base/required_fields.h"
#include "edelta/base/error.h"
#include "edelta/data/dataset.h"

namespace edelta::probes {
namespace {

using torch::Tensor;

Tensor unit_vectors(int64_t sequences, int64_t positions, int64_t dim, uint64_t seed) {
  Tensor x = torch::empty({sequences, positions, dim}, torch::kFloat64);
  double* at = x.data_ptr<double>();
  for (int64_t i = 0; i < sequences; ++i) {
    base::RandomStream random(seed, base::Stream::norm_probe, static_cast<uint64_t>(i));
    for (int64_t j = 0; j < positions * dim; ++j) *at++ = random.normal();
  }
  return (x / x.norm(2, -1, /*keepdim=*/true)).to(torch::kFloat32);
}

std::vector<double> to_vector(const Tensor& tensor) {
  const Tensor values = tensor.to(torch::kFloat64).contiguous();
  return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
}

// InputError where the input has a coordinate that no target has: a prediction lacks it.
void require_feedback(const Tensor& x, const Tensor& y) {
  const Tensor cues = (x != 0).any(0).any(0).logical_and((y == 0).all(0).all(0)).nonzero();
  if (cues.size(0) == 0) return;
  throw InputError(
      fmt::format("coordinate {} of the sequences is a cue, which the targets do not have (they "
                  "are 0 there): predictions cannot be fed back",
                  cues[0].item<int64_t>()));
}

// `count` of the steps 1, …, last, the first and the last among them; one: the last.
std::set<int64_t> evenly_spaced(int64_t last, int64_t count) {
  count = std::min(count, last);
  if (count == 1) return {last};
  std::set<int64_t> steps;
  for (int64_t i = 0; i < count; ++i) steps.insert(1 + i * (last - 1) / (count - 1));
  return steps;
}

// Validation trajectories [N, ≥ context, dim], as long as the truth is known up to `length`.
Tensor true_trajectories(const train::RunManifest& run, const RolloutOptions& options,
                         int64_t length) {
  if (run.config.task && options.data.empty()) {
    data::TaskOptions task = *run.config.task;
    if (task.steps > 1) task.steps = length;
    task.train = 1;
    task.val = std::min(options.trajectories, task.val);
    const data::Dataset made = data::generate(task);
    require_feedback(made.val_x, made.val_y);
    return made.val_x;
  }
  const data::Dataset there = train::load_run_vectors(run, options.data);
  require_feedback(there.val_x, there.val_y);
  return there.val_x.narrow(0, 0, std::min(options.trajectories, there.val_x.size(0)));
}

OperatorSummary summarise(const std::string& name, const Tensor& operators) {
  const int64_t n = operators.size(-1);
  const Tensor g = operators.to(torch::kFloat64).reshape({-1, n, n});
  const Tensor gram = g.transpose(-2, -1).matmul(g) - torch::eye(n, g.options());
  const Tensor singular = torch::linalg_svdvals(g);
  const Tensor angles = std::get<0>(torch::linalg_eigvals(g).angle().abs().sort(-1)).mean(0);
  return {.name = name,
          .gamma = std::nullopt,
          .mean_determinant = torch::linalg_det(g).mean().item<double>(),
          .orthogonality_error = gram.abs().max().item<double>(),
          .smallest_singular = singular.min().item<double>(),
          .largest_singular = singular.max().item<double>(),
          .eigen_angles = to_vector(angles)};
}

}  // namespace

NormProbe probe_norms(models::Model& model, const NormProbeOptions& options) {
  const torch::NoGradGuard no_grad;
  model.eval();
  const int64_t positions = options.positions, block = model.config().block_size;
  if (model.config().head == models::Head::token) {
    throw InputError("norms are those of models of vectors; the run's is one of text");
  }
  if (positions > block) {
    throw InputError(fmt::format("positions is {}; the model sees at most {}", positions, block));
  }
  const Tensor x =
      unit_vectors(options.sequences, positions, model.config().input_dim, options.seed);
  const Tensor norms = model.predict(x).to(torch::kFloat64).norm(2, -1);
  const Tensor mean = norms.mean(0);
  return {to_vector(mean), to_vector(norms.std(0)), (mean - 1).abs().mean().item<double>(),
          mean[-1].item<double>()};
}

nlohmann::ordered_json to_json(const NormProbe& probe, const NormProbeOptions& options,
                               const std::string& run) {
  return {{"run", run},
          {"sequences", options.sequences},
          {"norm_deviation", probe.norm_deviation},
          {"last_norm", probe.last_norm},
          {"mean_norm", probe.mean_norm},
          {"deviation", probe.deviation}};
}

NormProbe norm_probe_from_json(const nlohmann::json& json, const std::string& source) {
  NormProbe probe;
  with_source(source, [&] {
    probe = {base::required_numbers(json, "mean_norm"), base::required_numbers(json, "deviation"),
             base::required_number(json, "norm_deviation"),
             base::required_number(json, "last_norm")};
    if (probe.deviation.size() != probe.mean_norm.size()) {
      throw InputError("mean_norm and deviation must be of the same length");
    }
  });
  return probe;
}

Rollout roll_out(models::Model& model, const train::RunManifest& run,
                 const RolloutOptions& options) {
  const torch::NoGradGuard no_grad;
  model.eval();
  const int64_t block = model.config().block_size;
  int64_t context = options.context > 0 ? options.context : std::max<int64_t>(1, block / 2);
  if (context > block) {
    throw InputError(fmt::format("the context is {}; the model sees at most {}", context, block));
  }
  const Tensor truth = true_trajectories(run, options, context + options.steps);
  if (options.context == 0) context = std::min(context, truth.size(1));
  if (truth.size(1) < context) {
    throw InputError(fmt::format("the context is {}, but the sequences have {} positions", context,
                                 truth.size(1)));
  }
  Rollout rollout{context, truth.size(0), {}};
  Tensor window = truth.narrow(1, 0, context).clone();
  const std::set<int64_t> reported = evenly_spaced(options.steps, options.points);
  for (int64_t step = 1; step <= options.steps; ++step) {
    const Tensor next = model.predict(window).narrow(1, context - 1, 1);
    window = torch::cat({window.narrow(1, 1, context - 1), next}, 1);
    if (options.on_step) options.on_step(step);
    if (!reported.contains(step)) continue;
    const Tensor norms = next.to(torch::kFloat64).norm(2, -1);
    RolloutPoint point{step, norms.mean().item<double>(), norms.max().item<double>(), {}};
    const int64_t at = context + step - 1;
    if (at < truth.size(1)) {
      point.error = (next - truth.narrow(1, at, 1)).square().mean().item<double>();
    }
    rollout.points.push_back(point);
  }
  return rollout;
}

std::vector<OperatorSummary> inspect_operators(models::Model& model, const Tensor& x) {
  const torch::NoGradGuard no_grad;
  model.eval();
  models::State state;
  const models::Seen seen = model.forward({x}, state, {.record_operators = true}).seen;
  std::vector<OperatorSummary> summaries;
  if (seen.operators.empty()) return summaries;
  for (size_t i = 0; i < seen.operators.size(); ++i) {
    summaries.push_back(summarise(
        fmt::format("layer {} {}", i / 2, i % 2 == 0 ? "attention" : "MLP"), seen.operators[i]));
    if (i < seen.gates.size()) summaries.back().gamma = seen.gates[i].mean().item<double>();
  }
  summaries.push_back(summarise_product(seen.operators));
  return summaries;
}

nlohmann::ordered_json to_json(const std::vector<OperatorSummary>& summaries) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const OperatorSummary& summary : summaries) {
    nlohmann::ordered_json entry{{"operator", summary.name}};
    if (summary.gamma) entry["gamma"] = *summary.gamma;
    entry["determinant"] = summary.mean_determinant;
    entry["orthogonality_error"] = summary.orthogonality_error;
    entry["smallest_singular_value"] = summary.smallest_singular;
    entry["largest_singular_value"] = summary.largest_singular;
    entry["eigenvalue_angles"] = summary.eigen_angles;
    list.push_back(std::move(entry));
  }
  return list;
}

std::vector<OperatorSummary> operator_summaries_from_json(const nlohmann::json& json,
                                                          const std::string& source) {
  if (!json.is_array()) throw InputError(source + ": must be a list of operators");
  std::vector<OperatorSummary> summaries;
  with_source(source, [&] {
    for (const nlohmann::json& entry : json) {
      const auto number = [&](const char* key) { return base::required_number(entry, key); };
      summaries.push_back({.name = base::required<std::string>(entry, "operator"),
                           .gamma = std::nullopt,
                           .mean_determinant = number("determinant"),
                           .orthogonality_error = number("orthogonality_error"),
                           .smallest_singular = number("smallest_singular_value"),
                           .largest_singular = number("largest_singular_value"),
                           .eigen_angles = base::required_numbers(entry, "eigenvalue_angles")});
      if (entry.contains("gamma")) summaries.back().gamma = number("gamma");
    }
  });
  return summaries;
}

OperatorSummary summarise_product(const std::vector<Tensor>& operators) {
  Tensor product;
  for (const Tensor& each : operators) {
    const Tensor g = each.to(torch::kFloat64);
    product = product.defined() ? g.matmul(product) : g;
  }
  return summarise("product of all", product);
}

}  // namespace edelta::probes
