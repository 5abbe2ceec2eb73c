// The tables of results.json, by the kind of experiment.
#pragma once

#include "experiments/result_cells.h"
#include "experiments/run_archive.h"

namespace edelta::experiments {

Cell training_table(RunArchive& archive, const TrainingTable& table);
// All tables of an experiment.
std::vector<Cell> result_tables(RunArchive& archive, const Experiment& experiment);

// One number of every training of one operator at one sample size; `key` is beta, gamma or
// alignment.
std::vector<double> reflection_values(const RunArchive& archive, const std::string& op,
                                      int64_t samples, const std::string& key);
// Sample sizes in the measurements.
std::vector<int64_t> reflection_samples(const RunArchive& archive);

// The model whose colour an operator of the reflection probe has.
std::string reflection_model(const std::string& op);

}  // namespace edelta::experiments
