#include "verify/recursive_parity.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "edelta/base/error.h"
#include "edelta/models/recursive.h"
#include "edelta/train/recursive_optimiser.h"

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

struct Prefixes {
  const char *parameters, *buffers;
};

std::shared_ptr<models::RecursiveModel> traced_model(const TensorFile& trace,
                                                     const Prefixes& prefixes,
                                                     torch::ScalarType dtype) {
  auto model = std::make_shared<models::RecursiveModel>(traced_config(trace), /*seed=*/0);
  model->to(dtype);
  load(model->named_parameters(), trace, prefixes.parameters);
  load(model->named_buffers(), trace, prefixes.buffers);
  return model;
}

// What the trace has in the model's precision: in float32 its values are the original's own, and
// those of no other tensor are known.
class KnownValues {
 public:
  KnownValues(const TensorFile& trace, torch::ScalarType dtype, Comparer& compare)
      : trace_(trace), prefix_(dtype == torch::kFloat64 ? "" : kFloat32), compare_(compare) {}
  void value(const std::string& name, const Tensor& computed) {
    if (has(trace_, prefix_ + name)) compare_.value(name, computed);
  }

 private:
  const TensorFile& trace_;
  std::string prefix_;
  Comparer& compare_;
};

models::PuzzleBatch traced_batch(const TensorFile& trace, const std::string& step) {
  const auto at = [&](const char* name) { return trace.tensor(step + "batch/" + name); };
  return {at("inputs"), at("labels"), at("puzzle_identifiers")};
}

void compare_judgement(const std::string& prefix, const PuzzleOutput& output,
                       KnownValues& compare) {
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
    compare.value(prefix + name, value);
  }
}

void compare_record(const std::string& prefix, const PuzzleOutput& output, KnownValues& compare) {
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

void check_steps(const TensorFile& trace, torch::ScalarType dtype, Comparer& compare) {
  const auto model = traced_model(trace, {"param/", "buffer/"}, dtype);
  KnownValues known(trace, dtype, compare);
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
    compare_judgement(prefix, output, known);
    if (first) compare_record(prefix, output, known);
    for (const auto& [name, value] : carry) known.value(prefix + "carry/" + name, value);
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
      compare_judgement("eval/", output, known);
    }
  }
}

// The whole optimisation, batch by batch.
void check_training(const TensorFile& trace, torch::ScalarType dtype, Comparer& compare) {
  const auto model = traced_model(trace, {"init/", "init_buffer/"}, dtype);
  train::RecursiveProtocol protocol;
  nlohmann::json settings = metadata_json(trace, "train");
  if (!settings.is_object()) throw InputError(trace.source + ": its train is no JSON object");
  settings.erase("steps");
  fields_from_json(settings, protocol, trace.source);
  train::RecursiveOptimiser optimiser(*model, protocol);
  const Tensor batches = trace.tensor("batches").to(torch::kInt64);
  const auto rows = static_cast<double>(batches.size(1));
  std::map<std::string, std::vector<Tensor>> log;
  models::State carry;
  model->train();
  for (int64_t i = 0; i < batches.size(0); ++i) {
    const auto at = [&](const char* name) {
      return trace.tensor(std::string("data/") + name).index_select(0, batches[i]);
    };
    const models::Exploration exploration{trace.tensor("log/explore_u")[i],
                                          trace.tensor("log/explore_r")[i]};
    const PuzzleOutput output =
        model->step({at("inputs"), at("labels"), at("puzzle_identifiers")}, carry, exploration);
    (output.total() / rows).backward();
    const double norm = optimiser.step(output, carry.at("puzzle_identifiers"));
    const auto number = [](double value) { return torch::tensor(value, torch::kFloat64); };
    log["grad_norm"].push_back(number(norm));
    log["lr"].push_back(number(learning_rate(protocol, protocol.lr, i + 1)));
    log["loss"].push_back(output.total().detach());
    log["lm_loss"].push_back(output.lm_loss.detach());
    log["q_halt_loss"].push_back(output.q_halt_loss.detach());
    log["gate_reg_loss"].push_back(output.gate_loss.detach());
    log["halted"].push_back(carry.at("halted"));
    log["steps"].push_back(carry.at("steps"));
    if (!output.gates.empty()) {
      log["gamma_attn_L0"].push_back(output.gates.front().detach().mean());
    }
  }
  for (const auto& [name, values] : log) {
    if (has(trace, "log/" + name)) compare.each_value("log/" + name, torch::stack(values));
  }
  for (const auto& item : model->named_parameters()) {
    compare.value("final/" + item.key(), item.value());
    if (has(trace, "ema/" + item.key())) {
      compare.value("ema/" + item.key(), optimiser.mean_of(item.key()));
    }
  }
  if (const Tensor table = model->puzzle_table(); table.defined()) {
    compare.value("final_buffer/puzzle_emb.weights", table);
  }
}

}  // namespace

bool is_recursive(const TensorFile& trace) {
  const auto kind = trace.metadata.find("kind");
  return kind != trace.metadata.end() && kinds().contains(kind->second);
}

ParityTolerance recursive_tolerance(const TensorFile& trace, torch::ScalarType dtype) {
  if (has(trace, "batches")) return training_tolerance(dtype);
  ParityTolerance tolerance = default_tolerance(dtype);
  if (dtype == torch::kFloat64) return tolerance;
  double own = 0;
  for (const auto& [name, found] : below(trace, kFloat32)) {
    own = std::max(
        own, largest_error(trace.tensor(name).to(torch::kFloat64), found.to(torch::kFloat64)));
  }
  // The recursion amplifies rounding, and far more so in the gradients, of which the trace has none
  // in float32.
  tolerance.value = 3 * own;
  tolerance.gradient = std::max(tolerance.gradient, 100 * own);
  return tolerance;
}

void check_recursive(const TensorFile& trace, torch::ScalarType dtype, Comparer& compare) {
  has(trace, "batches") ? check_training(trace, dtype, compare)
                        : check_steps(trace, dtype, compare);
}

}  // namespace edelta::verify
