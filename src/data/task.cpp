#include "edelta/data/task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/printable.h"
#include "base/suggest.h"
#include "edelta/base/error.h"

namespace edelta::data {
namespace {

constexpr double kPi = 3.14159265358979323846;

const std::vector<TaskOptions>& tasks() {
  static const std::vector<TaskOptions> all{
      {"gyroscope", 16, 255, 9000, 1000, 0.1, 2.5, Planes::kRandom, 0},
      {"stability", 64, 127, 900, 100, 0, 0, Planes::kRandom, 0.001},
      {"near-pi", 64, 127, 800, 200, 3.10, 3.10, Planes::kFirst, 0},
      {"near-pi-multi", 64, 127, 800, 200, 3.14, 3.14, Planes::kAll, 0},
      {"negation", 64, 1, 500, 500, 0, 0, Planes::kRandom, 0},
      {"reversal", 16, 255, 9000, 1000, 0.1, 2.5, Planes::kRandom, 0}};
  return all;
}

constexpr std::pair<Planes, std::string_view> kPlanesNames[] = {
    {Planes::kRandom, "random"}, {Planes::kFirst, "first"}, {Planes::kAll, "all"}};

bool rotates(const TaskOptions& options) {
  return options.task != "stability" && options.task != "negation";
}

bool has_option(const TaskOptions& options, std::string_view key) {
  if (key == "theta" || key == "planes") return rotates(options);
  if (key == "noise") return options.task == "stability";
  constexpr std::string_view kCommon[] = {"task", "dim", "steps", "train", "val", "seed"};
  return std::find(std::begin(kCommon), std::end(kCommon), key) != std::end(kCommon);
}

[[noreturn]] void reject(const TaskOptions& options, const char* key, const std::string& rule) {
  throw InputError(fmt::format("task {}: {} must be {}", options.task, key, rule));
}

void check_size(const TaskOptions& options, const char* key, std::int64_t value,
                std::int64_t least) {
  // Keeps every product of sizes, and an index into a plane, in range.
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (value < least || value > kMost) {
    reject(options, key, fmt::format("from {} to {}, not {}", least, kMost, value));
  }
}

void check_rotation(const TaskOptions& options) {
  const double low = options.theta_min, high = options.theta_max;
  if (!(low >= 0 && high < kPi)) {
    reject(options, "theta",
           fmt::format("at least 0 and below pi (a Cayley rotation cannot reach it), not {}",
                       low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high)));
  }
  if (low > high) {
    reject(options, "theta", fmt::format("a range from low to high, not {} to {}", low, high));
  }
  const bool cue = has_cue(options);
  if (options.planes == Planes::kAll && (options.dim - (cue ? 1 : 0)) % 2 != 0) {
    reject(options, "dim",
           fmt::format("{} to rotate all planes, not {}",
                       cue ? "odd, which is even without the cue," : "even", options.dim));
  }
}

std::int64_t read_integer(const nlohmann::json& value, const TaskOptions& options,
                          const char* key) {
  const bool fits = value.is_number_integer() &&
                    !(value.is_number_unsigned() &&
                      value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max());
  if (!fits) reject(options, key, fmt::format("a whole number, not {}", value.dump()));
  return value.get<std::int64_t>();
}

double read_number(const nlohmann::json& value, const TaskOptions& options, const char* key) {
  if (!value.is_number()) reject(options, key, fmt::format("a number, not {}", value.dump()));
  return value.get<double>();
}

void read_theta(const nlohmann::json& value, TaskOptions& options) {
  if (value.is_number()) {
    options.theta_min = options.theta_max = value.get<double>();
  } else if (value.is_array() && value.size() == 2) {
    options.theta_min = read_number(value[0], options, "theta");
    options.theta_max = read_number(value[1], options, "theta");
  } else {
    reject(options, "theta", fmt::format("a number or [min, max], not {}", value.dump()));
  }
}

Planes read_planes(const nlohmann::json& value, const TaskOptions& options) {
  for (const auto& [planes, name] : kPlanesNames) {
    if (value == name) return planes;
  }
  reject(options, "planes", fmt::format("random, first or all, not {}", value.dump()));
}

void read_option(const std::string& key, const nlohmann::json& value, TaskOptions& options) {
  if (!has_option(options, key)) {
    std::vector<std::string> known;
    for (const Field& field : task_fields()) {
      if (has_option(options, field.key)) known.push_back(field.key);
    }
    throw InputError(fmt::format("task {} has no option {}; it has: {}{}", options.task,
                                 base::printable(key), fmt::join(known, ", "),
                                 base::did_you_mean(key, known)));
  }
  if (key == "dim") options.dim = read_integer(value, options, "dim");
  if (key == "steps") options.steps = read_integer(value, options, "steps");
  if (key == "train") options.train = read_integer(value, options, "train");
  if (key == "val") options.val = read_integer(value, options, "val");
  if (key == "theta") read_theta(value, options);
  if (key == "planes") options.planes = read_planes(value, options);
  if (key == "noise") options.noise = read_number(value, options, "noise");
  if (key == "seed") {
    if (!value.is_number_unsigned()) {
      reject(options, "seed", fmt::format("a whole number from 0, not {}", value.dump()));
    }
    options.seed = value.get<std::uint64_t>();
  }
}

}  // namespace

std::vector<Field> task_fields() {
  return {{"dim", "Dimension of the task's vectors"},
          {"steps", "Positions T of a sequence"},
          {"train", "Training sequences", "train-size"},
          {"val", "Validation sequences", "val-size"},
          {"theta", "Rotation angle below π, or a range as [min,max]"},
          {"planes", "Planes that a rotation turns: random, first or all"},
          {"noise", "Standard deviation of the noise (stability)"},
          {"seed", "Seed of the data", "task-seed"}};
}

std::vector<std::string> task_names() {
  std::vector<std::string> names;
  for (const TaskOptions& options : tasks()) names.push_back(options.task);
  return names;
}

TaskOptions default_task_options(const std::string& task) {
  for (const TaskOptions& options : tasks()) {
    if (options.task == task) return options;
  }
  throw InputError(fmt::format("unknown task {}; there are {}{}", base::printable(task),
                               fmt::join(task_names(), ", "),
                               base::did_you_mean(task, task_names())));
}

bool has_cue(const TaskOptions& options) { return options.task == "reversal"; }

void validate(const TaskOptions& options) {
  default_task_options(options.task);
  // A plane, and the cue.
  check_size(options, "dim", options.dim, has_cue(options) ? 3 : 2);
  check_size(options, "steps", options.steps, 1);
  check_size(options, "train", options.train, 1);
  check_size(options, "val", options.val, 1);
  const double values = static_cast<double>(options.dim) * static_cast<double>(options.steps) *
                        static_cast<double>(options.train + options.val);
  if (values > 0x1p36) {
    throw InputError(fmt::format("task {}: dim, steps, train and val ask for {:.2g} numbers",
                                 options.task, values));
  }
  if (rotates(options)) check_rotation(options);
  // So that squares of what is generated stay float32's.
  constexpr double kMostNoise = 1e15;
  if (!(options.noise >= 0 && options.noise <= kMostNoise)) {
    reject(options, "noise", fmt::format("0 to {:g}, not {}", kMostNoise, options.noise));
  }
  if (options.task == "negation" && options.steps != 1) {
    reject(options, "steps", fmt::format("1, not {}", options.steps));
  }
}

void to_json(nlohmann::json& json, const TaskOptions& options) {
  json = {{"task", options.task},   {"dim", options.dim}, {"steps", options.steps},
          {"train", options.train}, {"val", options.val}, {"seed", options.seed}};
  if (has_option(options, "theta")) {
    json["theta"] = options.theta_min == options.theta_max
                        ? nlohmann::json(options.theta_min)
                        : nlohmann::json{options.theta_min, options.theta_max};
  }
  if (has_option(options, "planes")) {
    for (const auto& [planes, name] : kPlanesNames) {
      if (planes == options.planes) json["planes"] = name;
    }
  }
  if (has_option(options, "noise")) json["noise"] = options.noise;
}

void from_json(const nlohmann::json& json, TaskOptions& options) {
  const bool named = json.is_object() && json.contains("task") && json["task"].is_string();
  if (!named) throw InputError("task options must be an object with a \"task\"");
  options = default_task_options(json["task"].get<std::string>());
  for (const auto& [key, value] : json.items()) read_option(key, value, options);
  validate(options);
}

}  // namespace edelta::data
