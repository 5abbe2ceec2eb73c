// How long trainings will take.
#pragma once

#include <map>
#include <string>

#include "reproduce/step.h"

namespace edelta::reproduce {

// Learns seconds per unit of work from finished runs, by model where it can: small models spend
// more time per FLOP. Before the first one it goes by the machine's matrix product.
class RunTimes {
 public:
  explicit RunTimes(int64_t threads) : threads_(threads) {}

  void learn(const Step& step);  // a finished one; only trainings teach anything
  // Of what is left of a step that has begun.
  double seconds_left(const Step& step);

 private:
  struct Rate {
    double work = 0, seconds = 0;
  };

  double work(const Training& training);  // GFLOP of the whole of it
  double seconds(const Training& training);
  double first_rate();

  int64_t threads_;
  std::map<std::string, Rate> by_model_;
  Rate overall_;
  std::map<std::string, double> gflop_;  // of a step, by configuration
  double first_rate_ = 0;
};

}  // namespace edelta::reproduce
