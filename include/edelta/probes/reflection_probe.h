// The reflection probe (specification 6): can an operator, alone, learn x → −x from few samples?
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace edelta::probes {

struct ReflectionProbeOptions {
  std::vector<std::string> operators;  // empty: all
  std::vector<int64_t> samples = {10, 25, 50, 100, 200, 500};
  std::vector<uint64_t> seeds = {42, 123, 456};
  int64_t iterations = 2000;
  int64_t dim = 64;
  int64_t hidden = 128;
  int64_t workers = 1;  // trainings at a time, of one thread each: the results do not depend on it
  // Trainings done, of how many; called from one thread at a time.
  std::function<void(int64_t done, int64_t total)> on_progress;
};

// One training of one operator. Validation: 500 samples that are the same for all.
struct ReflectionPoint {
  int64_t iteration = 0;
  double alignment = 0;        // mean cosine between output and −x
  double loss = 0;             // mean squared distance from −x
  double beta = 0, gamma = 0;  // means over the first 100 rows; 0 where the operator has none
};
struct ReflectionRun {
  std::string name;  // of the operator
  int64_t samples = 0;
  uint64_t seed = 0;
  bool has_beta = false, has_gamma = false;
  std::vector<ReflectionPoint> trajectory;  // the last point is the result

  const ReflectionPoint& final() const { return trajectory.back(); }
  // By the gate where there is one (γ < 0.1), else by β > 1.9; false for operators with neither.
  bool converged() const;
};

// Every operator with every sample size and seed. InputError for impossible options.
std::vector<ReflectionRun> probe_reflection(const ReflectionProbeOptions& options);

nlohmann::ordered_json to_json(const std::vector<ReflectionRun>& runs,
                               const ReflectionProbeOptions& options);
// The runs that to_json() wrote; InputError that names `source` and the key, NaN for what was not
// finite.
std::vector<ReflectionRun> reflection_runs_from_json(const nlohmann::json& json,
                                                     const std::string& source);

}  // namespace edelta::probes
