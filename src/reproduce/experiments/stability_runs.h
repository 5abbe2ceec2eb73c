// The trainings on stability that the main comparison and the norm probe share.
#pragma once

#include <string>

#include "reproduce/experiment.h"

namespace edelta::reproduce {

TrainingTable stability_runs(const std::string& id);

}  // namespace edelta::reproduce
