#include "edelta/train/schedule.h"

#include <cmath>
#include <numbers>

namespace edelta::train {

double learning_rate(const Protocol& protocol, int64_t iteration) {
  if (iteration < protocol.warmup) {
    return protocol.lr * static_cast<double>(iteration) / static_cast<double>(protocol.warmup);
  }
  const double progress = static_cast<double>(iteration - protocol.warmup) /
                          static_cast<double>(protocol.iterations - protocol.warmup);
  return protocol.min_lr +
         0.5 * (1 + std::cos(std::numbers::pi * progress)) * (protocol.lr - protocol.min_lr);
}

}  // namespace edelta::train
