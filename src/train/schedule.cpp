#include "edelta/train/schedule.h"

#include <cmath>
#include <numbers>

namespace edelta::train {

int64_t schedule_end(const Protocol& protocol) {
  return protocol.decay_iterations > 0 ? protocol.decay_iterations : protocol.iterations;
}

double learning_rate(const Protocol& protocol, int64_t iteration) {
  if (iteration < protocol.warmup) {
    return protocol.lr * static_cast<double>(iteration) / static_cast<double>(protocol.warmup);
  }
  const int64_t end = schedule_end(protocol);
  if (iteration >= end) return protocol.min_lr;
  const double progress =
      static_cast<double>(iteration - protocol.warmup) / static_cast<double>(end - protocol.warmup);
  return protocol.min_lr +
         0.5 * (1 + std::cos(std::numbers::pi * progress)) * (protocol.lr - protocol.min_lr);
}

}  // namespace edelta::train
