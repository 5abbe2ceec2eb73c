// One thing that a suite has to do, as what it is: a training, or a measurement.
#pragma once

#include <filesystem>
#include <string>
#include <variant>

#include "bench/bench.h"
#include "edelta/data/task.h"
#include "edelta/probes/depth.h"
#include "edelta/probes/probes.h"
#include "edelta/probes/reflection_probe.h"
#include "edelta/train/config.h"
#include "edelta/verify/theorems.h"

namespace edelta::reproduce {

struct Training {
  train::TrainConfig config;
  std::filesystem::path folder;  // of the run
};

// Counts the parameters of the matched configurations.
struct CountParameters {};

// Measures what predictors without training reach on a task.
struct MeasureBaselines {
  data::TaskOptions task;
};

// Probes how the best model of a finished run keeps norms.
struct ProbeNorms {
  std::filesystem::path run;
  probes::NormProbeOptions options = {};
};

// Looks at the operators of the best model of a finished run, on its validation data.
struct ProbeOperators {
  std::filesystem::path run;
  int64_t sequences = 16;
};

// Lets the best model of a finished run on text write.
struct WriteSamples {
  std::filesystem::path run;
  int64_t samples = 2;
  int64_t tokens = 400;
  uint64_t seed = 42;
};

// Lets the best model of a finished run on puzzles solve one of its test puzzles.
struct SolvePuzzle {
  std::filesystem::path run;
  int64_t test = 1;  // which, from 1
};

using Request =
    std::variant<verify::TheoremOptions, CountParameters, MeasureBaselines, ProbeNorms,
                 ProbeOperators, WriteSamples, SolvePuzzle, probes::ReflectionProbeOptions,
                 probes::DepthProbeOptions, bench::BenchOptions>;
struct Measurement {
  Request request;
  std::filesystem::path file;  // of the JSON that it yields
};

struct Step {
  std::string name;
  std::variant<Training, Measurement> work;
  std::string after = {};  // the step whose result it needs
  bool exclusive = false;  // measures time: nothing else may run beside it
  double seconds = 0;      // a rough estimate for measurements

  const Training* training() const { return std::get_if<Training>(&work); }
  const Measurement* measurement() const { return std::get_if<Measurement>(&work); }
};

}  // namespace edelta::reproduce
