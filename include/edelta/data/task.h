// The synthetic tasks' options.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "edelta/base/json_fields.h"

namespace edelta::data {

// Which coordinate planes a rotation turns: one drawn per trajectory, (0, 1), or every (2p, 2p+1).
enum class Planes { kRandom, kFirst, kAll };

struct TaskOptions {
  std::string task;
  std::int64_t dim = 0;
  std::int64_t steps = 0;  // T
  std::int64_t train = 0;  // trajectories
  std::int64_t val = 0;
  // Tasks that rotate: each trajectory's angle is uniform in [theta_min, theta_max), or theta_min
  // where they are equal.
  double theta_min = 0;
  double theta_max = 0;
  Planes planes = Planes::kRandom;
  double noise = 0;  // stability: standard deviation per element
  std::uint64_t seed = 42;
};

// The options that a user may set; `theta` stands for its two bounds.
std::vector<Field> task_fields();

// gyroscope, stability, near-pi, near-pi-multi, negation: the paper's; reversal: ours.
std::vector<std::string> task_names();

// The paper's options where the task is the paper's; InputError for an unknown task.
TaskOptions default_task_options(const std::string& task);

// Whether the last coordinate of x is a cue, which no target has: reversal.
bool has_cue(const TaskOptions& options);

// InputError that names the option where a task cannot be generated.
void validate(const TaskOptions& options);

// The JSON object has the fields' names as keys, but `theta` is a number or [min, max] and `planes`
// is "random", "first" or "all"; an option that the task does not have is left out. Reading starts
// from the task's defaults and refuses unknown keys, wrong types and whatever validate() refuses.
void to_json(nlohmann::json& json, const TaskOptions& options);
void from_json(const nlohmann::json& json, TaskOptions& options);

}  // namespace edelta::data
