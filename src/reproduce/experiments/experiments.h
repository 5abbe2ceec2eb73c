// The paper's experiments, and ours: a file each. A new one is its file, its declaration here and
// its line in experiments.cpp.
#pragma once

#include <string>
#include <vector>

#include "reproduce/experiment.h"

namespace edelta::reproduce {

// In the order of the report.
const std::vector<Experiment>& experiments();

// The experiments that `names` ask for, in the suite's order: names of experiments, ids of training
// tables (the experiment with that table alone), or "all". InputError lists the known names.
std::vector<Experiment> select_experiments(const std::vector<std::string>& names);

Experiment theorems_experiment();
Experiment configs_experiment();
Experiment main_experiment();
Experiment near_pi_experiment();
Experiment norms_experiment();
Experiment gate_init_experiment();
Experiment reflection_experiment();
Experiment lambda_experiment();
Experiment width_experiment();
Experiment efficiency_experiment();
Experiment gain_experiment();
Experiment factorisation_experiment();
Experiment learning_rate_experiment();
Experiment weight_decay_experiment();
Experiment training_set_experiment();
Experiment reversal_experiment();
Experiment causal_experiment();
Experiment blend_experiment();
Experiment projection_init_experiment();
Experiment streams_experiment();
Experiment edelta_stream_experiment();
Experiment baselines_experiment();
Experiment depth_experiment();
Experiment language_experiment();
Experiment puzzles_experiment();

}  // namespace edelta::reproduce
