#include "verify/recursive_parity.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "edelta/base/error.h"
#include "edelta/models/recursive.h"

namespace edelta::verify {
namespace {

using base::TensorFile;
using models::PuzzleOutput;
using torch::Tensor;

// Below it stands the original's own run in float32.
constexpr const char* kFloat32 = "f32/";

// The published names of the kinds, and ours.
const std::map<std::string, std::string>& kinds() {
  static const std::map<std::string, std::string> kinds{{"trm", "trm"},
                                                        {"hrm", "hrm"},
                                                        {"trm_singlez", "trm-single"},
                                                        {"trm_hier6", "trm-hier6"},
                                                        {"baseline", "transformer"}};
  return kinds;
}

nlohmann::json metadata_json(const TensorFile& trace, const std::string& key) {
  const std::string text = trace.metadata_at(key);
  nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    throw InputError(fmt::format("{}: its {} is no JSON", trace.source, key));
  }
  return json;
}

models::RecursiveConfig traced_config(const TensorFile& trace) {
  nlohmann::json json = metadata_json(trace, "config");
  if (!json.is_object()) throw InputError(trace.source + ": its config is no JSON object");
  json["kind"] = kinds().at(trace.metadata_at("kind"));
  return models::recursive_config_from_json(json, trace.source, {"batch_size"});
}

void load(const torch::OrderedDict<std::string, Tensor>& tensors, const TensorFile& trace,
          const std::string& prefix) {
  const torch::NoGradGuard no_grad;
  for (const auto& item : tensors) {
    const Tensor& given = trace.tensor(prefix + item.key());
    if (given.sizes() != item.value().sizes()) {
      throw InputError(fmt::format("{}: '{}{}' has another shape than the model's", trace.source,
                                   prefix, item.key()));
    }
    Tensor(item.value()).copy_(given);
  }
}

std::shared_ptr<models::RecursiveModel> traced_model(const TensorFile& trace,
                                                     torch::ScalarType dtype) {
  auto model = std::make_shared<models::RecursiveModel>(traced_config(trace), /*seed=*/0);
  model->to(dtype);
  load(model->named_parameters(), trace, "param/");
  load(model->named_buffers(), trace, "buffer/");
  return model;
}

models::PuzzleBatch traced_batch(const TensorFile& trace, const std::string& step) {
  const auto at = [&](const char* name) { return trace.tensor(step + "batch/" + name); };
  return {at("inputs"), at("labels"), at("puzzle_identifiers")};
}

void compare_judgement(const TensorFile& trace, const std::string& prefix,
                       const PuzzleOutput& output, Comparer& compare) {
  const std::map<std::string, Tensor> computed{
      {"logits", output.logits},
      {"preds", output.predictions},
      {"q_halt_logits", output.q_halt},
      {"q_continue_logits", output.q_continue},
      {"target_q_continue", output.target_q_continue},
      {"gate_reg_loss", output.gate_loss},
      {"loss", output.total()},
      {"metric/count", output.metrics.count},
      {"metric/accuracy", output.metrics.accuracy},
      {"metric/exact_accuracy", output.metrics.exact_accuracy},
      {"metric/q_halt_accuracy", output.metrics.q_halt_accuracy},
      {"metric/steps", output.metrics.steps},
      {"metric/lm_loss", output.lm_loss},
      {"metric/q_halt_loss", output.q_halt_loss},
      {"metric/q_continue_loss", output.q_continue_loss},
      {"metric/gate_reg_loss", output.gate_loss}};
  for (const auto& [name, value] : computed) {
    if (has(trace, prefix + name)) compare.value(prefix + name, value);
  }
}

void compare_record(const std::string& prefix, const PuzzleOutput& output, Comparer& compare) {
  compare.value(prefix + "trace/input_embeddings", output.embedded);
  for (size_t i = 0; i < output.levels.size(); ++i) {
    const auto& [level, value] = output.levels[i];
    compare.value(fmt::format("{}trace/{:02}_{}", prefix, i, level), value);
  }
}

void compare_step_gradients(const TensorFile& trace, const std::string& prefix,
                            models::RecursiveModel& model, const PuzzleOutput& output,
                            Comparer& compare) {
  model.zero_grad();
  output.total().backward();
  compare_gradients(model, trace, prefix + "grad/", compare);
  if (output.puzzle_rows.defined()) {
    compare.gradient(prefix + "grad/puzzle_emb.local_weights", output.puzzle_rows.grad());
  }
  std::vector<Tensor> norms;
  for (const Tensor& parameter : model.parameters()) {
    if (parameter.grad().defined()) norms.push_back(parameter.grad().norm());
  }
  compare.gradient(prefix + "grad_norm", torch::stack(norms).norm());
}

}  // namespace

bool is_recursive(const TensorFile& trace) {
  const auto kind = trace.metadata.find("kind");
  return kind != trace.metadata.end() && kinds().contains(kind->second);
}

ParityTolerance recursive_tolerance(const TensorFile& trace, torch::ScalarType dtype) {
  if (dtype == torch::kFloat64) return default_tolerance(dtype);
  constexpr double kTimes = 3;
  ParityTolerance tolerance{0, 0};
  for (const auto& [name, found] : below(trace, kFloat32)) {
    if (!has(trace, name)) continue;
    const double error =
        largest_error(trace.tensor(name).to(torch::kFloat64), found.to(torch::kFloat64));
    const bool gradient = name.find("grad") != std::string::npos;
    double& most = gradient ? tolerance.gradient : tolerance.value;
    most = std::max(most, kTimes * error);
  }
  return tolerance;
}

void check_recursive(const TensorFile& trace, torch::ScalarType dtype, Comparer& compare) {
  const auto model = traced_model(trace, dtype);
  const auto steps = metadata_json(trace, "steps").get<int64_t>();
  const auto with_gradients = metadata_json(trace, "grad_steps").get<std::vector<int64_t>>();
  models::State carry;
  model->train();
  for (int64_t s = 0; s < steps; ++s) {
    const std::string prefix = fmt::format("step{}/", s);
    const models::Exploration exploration{trace.tensor(prefix + "explore_u"),
                                          trace.tensor(prefix + "explore_r")};
    const bool first = s == 0;
    const PuzzleOutput output =
        model->step(traced_batch(trace, prefix), carry, exploration, /*record=*/first);
    compare_judgement(trace, prefix, output, compare);
    if (first) compare_record(prefix, output, compare);
    for (const auto& [name, value] : carry) compare.value(prefix + "carry/" + name, value);
    if (std::count(with_gradients.begin(), with_gradients.end(), s) > 0) {
      compare_step_gradients(trace, prefix, *model, output, compare);
    }
  }
  model->eval();
  const torch::NoGradGuard no_grad;
  carry.clear();
  for (int64_t s = 0; s < model->config().halt_max_steps; ++s) {
    const PuzzleOutput output = model->step(traced_batch(trace, "step0/"), carry);
    if (s + 1 == model->config().halt_max_steps) {
      compare_judgement(trace, "eval/", output, compare);
    }
  }
}

}  // namespace edelta::verify
