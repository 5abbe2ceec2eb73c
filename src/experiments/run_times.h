// How long trainings will take.
#pragma once

#include <map>
#include <string>

#include "edelta/experiments/run_plan.h"

namespace edelta::experiments {

// Learns seconds per unit of work from finished runs, by model where it can: small models spend
// more time per FLOP. Before the first one it goes by the machine's matrix product.
class RunTimes {
 public:
  explicit RunTimes(const SuiteFolder& folder, int64_t threads)
      : folder_(folder), threads_(threads) {}

  void learn(const Step& step);  // a finished training
  double seconds(const Step& step);
  // Of what is left of a step that has begun.
  double seconds_left(const Step& step);

 private:
  struct Rate {
    double work = 0, seconds = 0;
  };

  double work(const Step& step);  // GFLOP of the whole training
  double first_rate();

  const SuiteFolder& folder_;
  int64_t threads_;
  std::map<std::string, Rate> by_model_;
  Rate overall_;
  std::map<std::string, double> gflop_;  // of a step, by configuration
  double first_rate_ = 0;
};

}  // namespace edelta::experiments
