#include "reproduce/protocol.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>

#include "edelta/models/registry.h"
#include "edelta/train/config.h"
#include "reproduce/experiment.h"
#include "reproduce/suite_preset.h"

namespace edelta::reproduce {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// Training `model` on `task`.
struct Setting {
  std::string model = models::ModelConfig().model, task = "gyroscope";
};

train::TrainConfig configured(const std::string& train_preset, const json& train,
                              const Setting& setting = {}) {
  return train::train_config_from_json({{"preset", train_preset},
                                        {"train", train},
                                        {"model", setting.model},
                                        {"task", setting.task}},
                                       train_preset);
}

// Collects in words what of a preset is not the paper's.
class Changes {
 public:
  explicit Changes(const SuitePreset& preset) : preset_(preset) {}

  // In a section of the configuration; `what` goes before it.
  void add(const std::string& what, const Setting& setting, const char* section,
           const std::vector<std::string>& keys) {
    const ordered_json here =
        to_json(configured(preset_.train_preset, preset_.train, setting))[section];
    const ordered_json paper = to_json(configured("paper", json::object(), setting))[section];
    std::vector<std::string> differing;
    for (const std::string& key : keys) {
      if (!here.contains(key) || here[key] == paper[key]) continue;
      differing.push_back(
          fmt::format("{} {} instead of {}", key, here[key].dump(), paper[key].dump()));
    }
    if (!differing.empty()) list_.push_back(what + fmt::format("{}", fmt::join(differing, ", ")));
  }

  const std::vector<std::string>& list() const { return list_; }

 private:
  const SuitePreset& preset_;
  std::vector<std::string> list_;
};

std::vector<NamedSetting> training_settings(const train::Protocol& protocol) {
  std::vector<NamedSetting> list;
  train::Protocol::visit_fields(protocol, [&](const Field& info, const auto& value) {
    if constexpr (std::is_integral_v<std::decay_t<decltype(value)>>) {
      list.push_back({info.key, {static_cast<int64_t>(value)}});
    } else {
      list.push_back({info.key, {value}});
    }
  });
  return list;
}

}  // namespace

std::optional<ProtocolSummary> summarise_protocol(const SuitePreset& preset,
                                                  const std::vector<Experiment>& experiments) {
  std::set<std::string> trained, tasks;
  for (const Experiment& experiment : experiments) {
    for (const TrainingTable& table : experiment.trainings) {
      // Not the paper's, and by protocols of their own.
      if (table.on_text() || table.puzzles) continue;
      tasks.insert(table.task);
      for (const Variant& variant : table.variants) trained.insert(variant.model);
    }
  }
  if (trained.empty()) return std::nullopt;
  Changes changes(preset);
  changes.add("", {}, "train", {"iterations", "batch", "lr", "min_lr", "warmup"});
  for (const auto& architecture : models::architectures()) {
    if (!trained.contains(architecture.name)) continue;
    changes.add(architecture.name + ": ", {.model = architecture.name}, "model",
                {"n_layer", "n_embd"});
  }
  for (const std::string task : {"gyroscope", "stability", "near-pi", "near-pi-multi"}) {
    if (!tasks.contains(task)) continue;
    changes.add(task + ": ", {.task = task}, "task", {"dim", "steps", "train", "val"});
  }
  return ProtocolSummary{preset.train_preset,
                         training_settings(configured(preset.train_preset, preset.train).train),
                         changes.list()};
}

const std::vector<ProtocolDifference>& protocol_differences() {
  static const std::vector<ProtocolDifference> all{
      {"H_pre and H_post at the start", "identity",
       "the identity is overwritten by N(0, 0.02²) when the model initialises",
       "N(0, 0.02²), because the paper's numbers come from it; the experiment projection-init has "
       "the identity"},
      {"zero-initialised routers (jpmhc, edelta-stream)", "—", "overwritten the same way",
       "N(0, 0.02²), by the same switch"},
      {"zero-initialised fused net (edelta-stream)", "—",
       "overwritten the same way, which saves it: at zero both branches are dead", "N(0, 0.02²)"},
      {"gate net", "“five 2-layer MLPs” once, σ(w·x̄ + b) elsewhere", "one linear layer",
       "one linear layer"},
      {"pooling", "mean over the sequence", "the same: sees the future",
       "the same for the paper's tables, marked there; the experiment causal has prefix and token "
       "pooling"},
      {"ddl", "adds the value term β k vᵀ in a figure", "no value term; the block adds F",
       "as the code"},
      {"gate loss of the stream model", "summed over layers", "computed, never added", "added"},
      {"near-π set sizes (training / validation)", "800 / 200", "1000 / 500", "800 / 200"},
      {"validation", "—", "40 random batches", "the whole split"},
      {"precision", "—", "bfloat16 autocast on a GPU", "float32"},
      {"dead parameters", "—", "the continuous models keep an unused wte and wpe", "not present"},
  };
  return all;
}

}  // namespace edelta::reproduce
