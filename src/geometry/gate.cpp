#include "edelta/geometry/gate.h"

namespace edelta::geometry {

using torch::Tensor;

Tensor gate_penalty(const Tensor& gamma, GateRegulariser regulariser) {
  const Tensor other = 1 - gamma;
  switch (regulariser) {
    case GateRegulariser::product:
      return 4 * gamma * other;
    case GateRegulariser::entropy:
      // xlogy(0, 0) = 0: the entropy of a gate that has decided is zero, not NaN.
      return -torch::xlogy(gamma, gamma) - torch::xlogy(other, other);
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
