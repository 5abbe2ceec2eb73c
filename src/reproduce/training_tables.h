// What experiments that train models share: their steps and their tables.
#pragma once

#include "reproduce/experiment.h"
#include "reproduce/plan.h"
#include "reproduce/run_archive.h"

namespace edelta::reproduce {

// Every variant of every table.
void plan_trainings(const Experiment& experiment, Plan& plan, uint64_t seed);

// Which models on which tasks, for how long and with which seeds.
std::string training_scope(const Experiment& experiment, const RunArchive& archive);

// Of what has been run so far.
Table training_table(RunArchive& archive, const TrainingTable& training);
// A table for each of the experiment's trainings.
std::vector<Table> training_tables(const Experiment& experiment, RunArchive& archive);

// Over the finished runs.
std::vector<double> final_losses(const std::vector<const RunRecord*>& runs);
// What else was measured at their ends, where it was.
std::vector<double> measured(const std::vector<const RunRecord*>& runs, const std::string& measure);
// The γ of all operators at the end of all runs: "0.02–0.98, mean 0.51"; empty without gates.
std::string final_gates(const std::vector<const RunRecord*>& runs);

// The five architectures of the paper, in its order; and with its losses.
std::vector<Variant> five();
std::vector<Variant> five(const std::vector<PaperValue>& paper);

// The noise of the stability task's targets.
inline constexpr double kNoiseFloor = 1.0e-6;
inline constexpr const char* kFloorNote =
    "The targets carry unpredictable noise of variance 10⁻⁶: a model that goes below it has seen "
    "them.";

}  // namespace edelta::reproduce
