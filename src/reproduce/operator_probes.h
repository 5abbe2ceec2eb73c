// How orthogonal the operators of trained models are.
#pragma once

#include "reproduce/experiment.h"
#include "reproduce/plan.h"
#include "reproduce/run_archive.h"

namespace edelta::reproduce {

// Every variant of every table, and a look at its operators, if it has any.
void plan_probed_trainings(const Experiment& experiment, Plan& plan, uint64_t seed);

// A column with ‖PᵀP − I‖_max of the product P of all operators, before the table's last one.
void add_product_errors(RunArchive& archive, const TrainingTable& training, Table& table);

}  // namespace edelta::reproduce
