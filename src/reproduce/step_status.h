// How far a suite's steps are.
#pragma once

#include <string>
#include <vector>

#include "reproduce/step.h"
#include "reproduce/suite_folder.h"

namespace edelta::reproduce {

enum class StepStatus { to_do, partly_done, done };
std::string to_string(StepStatus status);

// InputError for a run folder with another configuration.
StepStatus status_of(const Step& step);

struct PlannedStep {
  Step step;
  StepStatus status = StepStatus::to_do;
  double seconds = 0;  // estimated, of what is left
};

// The steps with what is known about them. InputError for a run folder with another configuration.
std::vector<PlannedStep> inspect_steps(const SuiteFolder& folder, const SuiteManifest& manifest);

}  // namespace edelta::reproduce
