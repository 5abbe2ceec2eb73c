#include "edelta/verify/parity.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "edelta/base/error.h"
#include "edelta/base/safetensors.h"
#include "edelta/models/model.h"
#include "edelta/models/model_file.h"
#include "edelta/models/registry.h"
#include "edelta/ops/cayley.h"
#include "edelta/ops/iterative_cayley.h"
#include "edelta/ops/sinkhorn.h"
#include "edelta/probes/reflection.h"
#include "edelta/train/optimiser.h"
#include "edelta/train/schedule.h"
#include "edelta/train/step.h"
#include "verify/puzzle_ops_parity.h"
#include "verify/recursive_parity.h"
#include "verify/trace.h"

namespace edelta::verify {
namespace {

using base::TensorFile;
using base::TensorMap;
using torch::Tensor;

// A trace may use the published name of an architecture or ours.
std::string architecture_name(const std::string& name) {
  const models::Architecture* published = models::find_published(name);
  return published != nullptr ? published->name : name;
}

models::ModelConfig trace_config(const TensorFile& trace) {
  // What a trace says beside the model's configuration.
  static const std::set<std::string> other{"note",  "seq_len", "steps",        "batch",
                                           "lr",    "min_lr",  "warmup",       "beta1",
                                           "beta2", "eps",     "weight_decay", "grad_clip"};
  nlohmann::json json(trace.metadata);
  json["model"] = architecture_name(trace.metadata_at("model"));
  if (!json.contains("head")) json["head"] = has(trace, "idx") ? "token" : "continuous";
  return models::model_config_from_json(json, trace.source, other);
}

struct TracedModel {
  std::shared_ptr<models::Model> model;
  std::vector<std::string> notices;
};

TracedModel build_model(const TensorFile& trace, const std::string& prefix,
                        torch::ScalarType dtype) {
  auto model = models::make_model(trace_config(trace));
  model->to(dtype);
  auto notices = models::load_parameters(*model, below(trace, prefix), trace.source);
  return {std::move(model), std::move(notices)};
}

// What the original minimised: the task's loss and, where its model has a gate, the gate loss. The
// published code differs between its models: it reports the two apart, or adds the gate loss to the
// loss and reports 0 for it, or never adds it. Which of them, the numbers of the trace say.
Tensor compare_losses(const TensorFile& trace, const models::Output& output, ParityReport& report,
                      Comparer& compare) {
  const Tensor loss = output.losses.front().value;
  Tensor gate_loss = torch::zeros_like(loss);
  for (const models::Loss& each : output.losses) {
    if (each.name == "gate") gate_loss = each.value;
  }
  if (has(trace, "gate_loss") && trace.tensor("gate_loss").item<double>() != 0) {
    compare.value("loss", loss);
    compare.value("gate_loss", gate_loss);
    return loss + gate_loss;
  }
  const double traced = trace.tensor("loss").item<double>();
  const auto distance = [&](const Tensor& value) {
    return std::abs(value.item<double>() - traced);
  };
  const bool included = distance(loss + gate_loss) < distance(loss);
  if (included) {
    report.notices.push_back(trace.source + ": its loss contains the gate loss");
  }
  const Tensor objective = included ? loss + gate_loss : loss;
  compare.value("loss", objective);
  return objective;
}

void check_model(const TensorFile& trace, torch::ScalarType dtype, ParityReport& report,
                 Comparer& compare) {
  const bool token = report.kind == "token";
  auto [model, notices] = build_model(trace, "param/", dtype);
  report.notices = notices;
  const Tensor input = token ? trace.tensor("idx") : trace.tensor("x").to(dtype);
  const Tensor target = token ? trace.tensor("targets") : trace.tensor("y").to(dtype);
  models::State state;
  const models::Output output = model->forward({input, target}, state);
  compare.value(token ? "logits" : "output", output.prediction);
  const Tensor objective = compare_losses(trace, output, report, compare);
  if (has(trace, "gamma_per_layer")) {
    std::vector<Tensor> layers;
    const std::vector<Tensor>& gates = output.seen.gates;
    for (size_t i = 0; i + 1 < gates.size(); i += 2) {
      layers.push_back((gates[i].mean() + gates[i + 1].mean()) / 2);
    }
    compare.value("gamma_per_layer", torch::stack(layers));
  }
  objective.backward();
  compare_gradients(*model, trace, "grad/", compare);
}

train::Protocol trace_protocol(const TensorFile& trace) {
  static const std::map<std::string, std::string> keys{
      {"steps", "iterations"},   {"batch", "batch"},   {"lr", "lr"},
      {"min_lr", "min_lr"},      {"warmup", "warmup"}, {"beta1", "beta1"},
      {"beta2", "beta2"},        {"eps", "eps"},       {"weight_decay", "weight_decay"},
      {"grad_clip", "grad_clip"}};
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [theirs, ours] : keys) json[ours] = trace.metadata_at(theirs);
  return train::protocol_from_json(json, trace.source);
}

// The whole optimisation, batch by batch, of the losses that the published training minimised.
void check_training(const TensorFile& trace, torch::ScalarType dtype, ParityReport& report,
                    Comparer& compare) {
  auto [model, notices] = build_model(trace, "init/", dtype);
  report.notices = notices;
  const train::Protocol protocol = trace_protocol(trace);
  const Tensor x = trace.tensor("x").to(dtype);
  const Tensor y = trace.tensor("y").to(dtype);
  const Tensor& batches = trace.tensor("batches");
  const bool gated = models::find_architecture(model->config().model).published.trains_gate;
  const train::StepOptions options{
      .minimises = [&](const std::string& loss) { return gated || loss != "gate"; }};
  train::AdamW optimiser(*model, protocol);
  models::State state;
  std::vector<double> losses, norms;
  for (int64_t i = 0; i < protocol.iterations; ++i) {
    const auto batch_of = [&](int64_t) -> models::Batch {
      return {x.index_select(0, batches[i]), y.index_select(0, batches[i])};
    };
    const train::StepOutcome outcome =
        compute_gradients(*model, optimiser, state, batch_of, options);
    update(optimiser, train::learning_rate(protocol, i), outcome, options);
    losses.push_back(outcome.loss("task"));
    norms.push_back(outcome.gradient_norm);
  }
  compare.each_value("loss_per_step", torch::tensor(losses, torch::kFloat64));
  compare.each_value("grad_norm_per_step", torch::tensor(norms, torch::kFloat64));
  for (const auto& item : model->named_parameters()) {
    if (has(trace, "final/" + item.key())) compare.value("final/" + item.key(), item.value());
  }
}

void check_cayley(const TensorFile& trace, torch::ScalarType dtype, Comparer& compare) {
  for (const auto& [name, u] : below(trace, "cayley/")) {
    if (!name.ends_with("/u")) continue;
    const std::string prefix = "cayley/" + name.substr(0, name.size() - 1);
    const auto at = [&](const char* part) { return trace.tensor(prefix + part).to(dtype); };
    compare.value(prefix + "Q", ops::cayley_matrix(at("u"), at("v"), at("beta")));
  }
}

void check_reflection(const TensorFile& trace, torch::ScalarType dtype, Comparer& compare) {
  for (const std::string& name : probes::reflection_operator_names()) {
    const std::string prefix = "reflection/" + name + "/";
    if (!has(trace, prefix + "x")) continue;
    const Tensor x = trace.tensor(prefix + "x").to(dtype);
    const TensorMap parameters = below(trace, prefix + "param/");
    const bool jpmhc = name == "jpmhc";
    const auto first = parameters.find(jpmhc ? "W_net.0.weight" : "k_net.0.weight");
    if (first == parameters.end()) throw InputError(trace.source + ": no parameters of " + prefix);
    auto op = probes::make_reflection_operator(name, x.size(-1), first->second.size(0));
    op->to(dtype);
    for (auto& item : op->named_parameters()) {
      const torch::NoGradGuard no_grad;
      item.value().copy_(trace.tensor(prefix + "param/" + item.key()));
    }
    const probes::ReflectionOutput output = op->forward(x);
    const Tensor loss = probes::reflection_loss(x, output);
    const Tensor gate_loss = probes::reflection_gate_loss(output);
    compare.value(prefix + "output", output.y);
    compare.value(prefix + "loss", loss);
    if (has(trace, prefix + "gate_loss")) compare.value(prefix + "gate_loss", gate_loss);
    (loss + gate_loss).backward();
    compare_gradients(*op, trace, prefix + "grad/", compare);
  }
}

void check_operators(const TensorFile& trace, torch::ScalarType dtype, Comparer& compare) {
  check_cayley(trace, dtype, compare);
  if (has(trace, "iterative_cayley/H")) {
    compare.value("iterative_cayley/Y",
                  ops::iterative_cayley(trace.tensor("iterative_cayley/H").to(dtype)));
  }
  if (has(trace, "sinkhorn/logits")) {
    compare.value("sinkhorn/M", ops::sinkhorn(trace.tensor("sinkhorn/logits").to(dtype)));
  }
  check_reflection(trace, dtype, compare);
  check_puzzle_ops(trace, dtype, compare);
}

std::string kind_of(const TensorFile& trace) {
  if (is_recursive(trace)) return "recursive";
  if (has(trace, "idx")) return "token";
  if (has(trace, "batches")) return "train";
  if (has(trace, "output")) return "continuous";
  const auto is_operator = [](const auto& item) {
    return item.first.starts_with("cayley/") || item.first.starts_with("iterative_cayley/") ||
           item.first.starts_with("sinkhorn/") || item.first.starts_with("reflection/") ||
           item.first.starts_with("rms_norm/") || item.first.starts_with("swiglu/") ||
           item.first.starts_with("attention/") || item.first.starts_with("stablemax/");
  };
  if (std::any_of(trace.tensors.begin(), trace.tensors.end(), is_operator)) return "operators";
  throw InputError(trace.source +
                   ": this is no trace: it has none of 'output', 'idx', 'batches' or operators");
}

ParityTolerance usual_tolerance(const TensorFile& trace, const std::string& kind,
                                torch::ScalarType dtype) {
  if (kind == "recursive") return recursive_tolerance(trace, dtype);
  return kind == "train" ? training_tolerance(dtype) : default_tolerance(dtype);
}

}  // namespace

ParityTolerance default_tolerance(torch::ScalarType dtype) {
  return dtype == torch::kFloat64 ? ParityTolerance{1e-9, 1e-8} : ParityTolerance{2e-5, 2e-4};
}

ParityTolerance training_tolerance(torch::ScalarType dtype) {
  return dtype == torch::kFloat64 ? ParityTolerance{1e-8, 1e-8} : ParityTolerance{1e-3, 1e-3};
}

bool ParityReport::holds() const {
  return std::all_of(comparisons.begin(), comparisons.end(),
                     [](const Comparison& comparison) { return comparison.holds(); });
}

const Comparison* ParityReport::worst(bool gradient) const {
  const Comparison* worst = nullptr;
  for (const Comparison& comparison : comparisons) {
    if (comparison.gradient != gradient) continue;
    if (worst == nullptr || comparison.error > worst->error) worst = &comparison;
  }
  return worst;
}

ParityReport check_parity(const std::filesystem::path& file, torch::ScalarType dtype,
                          std::optional<ParityTolerance> tolerance) {
  const TensorFile trace = base::read_safetensors(file);
  ParityReport report;
  report.file = file.string();
  report.kind = kind_of(trace);
  report.dtype = dtype;
  Comparer compare(trace, tolerance.value_or(usual_tolerance(trace, report.kind, dtype)), report);
  try {
    if (report.kind == "recursive") {
      check_recursive(trace, dtype, compare);
    } else if (report.kind == "operators") {
      check_operators(trace, dtype, compare);
    } else if (report.kind == "train") {
      check_training(trace, dtype, report, compare);
    } else {
      check_model(trace, dtype, report, compare);
    }
  } catch (const c10::Error& error) {
    // Shapes that do not fit each other only show when libtorch computes with them.
    throw InputError(fmt::format("{}: {}", trace.source, error.what_without_backtrace()));
  }
  return report;
}

}  // namespace edelta::verify
