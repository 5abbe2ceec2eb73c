// What an experiment is: a claim, the steps that test it, and the results that it makes of them.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reproduce/figure.h"
#include "reproduce/table.h"
#include "reproduce/text_sample.h"

namespace edelta::reproduce {

class Plan;
class RunArchive;

// One row of a table of trained models.
struct Variant {
  std::string label;
  std::string model;
  // Of the model, over its matched configuration, as train_config_from_json takes them.
  nlohmann::json settings = nlohmann::json::object();
  std::optional<PaperValue> paper = {};  // validation loss
  std::string paper_gamma = {};          // final γ, in the paper's words
  // Of the training, over the suite's.
  nlohmann::json train = nlohmann::json::object();
  double training_set = 1;  // the number of training sequences, times the task's
  // Of a recursive model: as wide as gives it the parameters that it has without a mixer.
  bool matched = false;
};

// Stands for a task where language models are trained on the suite's text.
inline constexpr const char* kText = "text";

// Variants on one task, told apart by their validation loss.
struct TrainingTable {
  std::string id;
  std::string title;
  std::string task;  // or kText, or a preset of recursive models, which makes their puzzles
  double scale = 1;  // the unit of the losses
  std::vector<Variant> variants;
  bool gates = false;          // show the final γ
  bool plateau = false;        // show when the plateau of predicting zero was left
  bool training_loss = false;  // show it beside that of validation
  bool puzzles = false;        // of recursive models
  std::string note = {};
  std::optional<double> noise_floor = {};  // of the loss, where the targets are noisy

  bool on_text() const { return task == kText; }
  // Without what the loss is called.
  std::string short_title() const { return title.substr(0, title.find(':')); }
};

struct Experiment {
  std::string name;
  std::string title;
  bool ours = false;
  std::string claim;   // what the paper says
  std::string method;  // what is done here, in every suite
  // Models that are trained for it. Their ids are names too: of the experiment with these alone.
  std::vector<TrainingTable> trainings = {};

  // Adds the steps that no seed changes …
  std::function<void(const Experiment&, Plan&)> plan_once = {};
  // … and those of each seed.
  std::function<void(const Experiment&, Plan&, uint64_t seed)> plan_seed = {};
  // What of it this suite does (models, sizes, seeds), in sentences that follow the method.
  std::function<std::string(const Experiment&, const RunArchive&)> scope = {};
  // From what has been run so far. Figures without panels are left out.
  std::function<std::vector<Table>(const Experiment&, RunArchive&)> tables = {};
  std::function<std::vector<Figure>(const Experiment&, RunArchive&)> figures = {};
  std::function<std::vector<TextSample>(const Experiment&, RunArchive&)> samples = {};
};

}  // namespace edelta::reproduce
