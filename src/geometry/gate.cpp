#include "edelta/geometry/gate.h"

#include <limits>

namespace edelta::geometry {
namespace {

using torch::Tensor;

// −p ln p, 0 at p = 0. The slope −1 − ln p diverges there, where the slope of a saturated sigmoid
// is 0; a bounded logarithm makes their product 0 instead of NaN.
Tensor surprise(const Tensor& p) {
  return -p * p.clamp_min(std::numeric_limits<float>::min()).log();
}

}  // namespace

Tensor gate_penalty(const Tensor& gamma, GateRegulariser regulariser) {
  const Tensor other = 1 - gamma;
  switch (regulariser) {
    case GateRegulariser::product:
      return 4 * gamma * other;
    case GateRegulariser::entropy:
      return surprise(gamma) + surprise(other);
    case GateRegulariser::squared_product:
      return (gamma * other).square();
    case GateRegulariser::min_distance:
      return torch::minimum(gamma.square(), other.square());
  }
  return {};
}

Tensor gate_loss(const std::vector<Tensor>& gates, GateRegulariser regulariser, double lambda) {
  if (gates.empty()) return torch::zeros({});
  Tensor total;
  for (const Tensor& gamma : gates) {
    const Tensor penalty = gate_penalty(gamma, regulariser).mean();
    total = total.defined() ? total + penalty : penalty;
  }
  return lambda * total;
}

}  // namespace edelta::geometry
