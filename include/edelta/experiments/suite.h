// The paper's experiments, and ours, as data: what is trained or measured, and with which numbers
// of the paper it is put side by side (SPEC 8).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace edelta::experiments {

// Mean and, where the paper gives it, standard deviation over seeds.
struct PaperValue {
  double mean = 0;
  std::optional<double> std;
};

// One row of a table of trained models.
struct Variant {
  std::string label;
  std::string model;
  nlohmann::json settings =
      nlohmann::json::object();     // of the model, over its matched configuration
  std::optional<PaperValue> paper;  // validation loss
  std::string paper_gamma = {};     // final γ, in the paper's words
};

// Variants on one task, told apart by their validation loss.
struct TrainingTable {
  std::string id;
  std::string title;
  std::string task;
  double scale = 1;  // the unit of the losses
  std::vector<Variant> variants;
  bool gates = false;  // show the final γ
  std::string note = {};
};

// How an experiment's numbers come about.
enum class Kind { training, theorems, configs, norms, reflection, efficiency };

enum class Figure {
  dynamics,      // validation loss and gradient norm against the iteration
  final_losses,  // bars
  gates,         // γ of every operator against the iteration
  norms,         // output norm against the position
  reflection,
  regularisers,
  efficiency
};

// Numbers of the paper that are no losses: rows by label, columns by key.
struct PaperRow {
  std::string label;
  std::string model;
  std::vector<std::pair<std::string, PaperValue>> values;
};

struct Experiment {
  std::string name;
  std::string title;
  bool ours = false;
  std::string claim;   // what the paper says
  std::string method;  // what is done here
  Kind kind = Kind::training;
  std::vector<TrainingTable> tables = {};  // norms: the runs that are probed
  std::vector<PaperRow> paper = {};        // what is not a loss
  std::vector<Figure> figures = {};
};

const std::vector<Experiment>& experiments();

// How long and how large: a training preset, and what the measurements are given.
struct SuitePreset {
  std::string name;
  std::string train_preset;
  nlohmann::json train = nlohmann::json::object();  // settings of the training over the preset's
  // Trains long enough that the losses are put beside the paper's; else they are not compared.
  bool comparable = true;
  std::vector<uint64_t> seeds;
  double measurement_share = 1;  // of the usual time of a measurement, for estimates
  std::vector<std::string> reflection_operators = {};  // empty: all
  std::vector<std::string> reflect_options = {}, bench_options = {}, verify_options = {};
};
// "paper", "quick", "smoke" and "demo"; InputError for another name.
const SuitePreset& suite_preset(const std::string& name);
std::vector<std::string> suite_preset_names();

// The experiments that `names` ask for, in the suite's order: names of experiments, ids of training
// tables (the experiment with that table alone), or "all". InputError lists the known names.
std::vector<Experiment> select_experiments(const std::vector<std::string>& names);

// Where paper and published code disagree, and what is done here (SPEC 9).
struct ProtocolDifference {
  std::string matter, paper, published_code, here;
};
const std::vector<ProtocolDifference>& protocol_differences();

}  // namespace edelta::experiments
