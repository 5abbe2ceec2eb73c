// The operators alone: a rotation in closed form, a reflection, the hybrid between them, and the
// statements of the paper about them, checked on the code that trains.
#include <edelta/ops/cayley.h>
#include <edelta/ops/householder.h>
#include <edelta/ops/hybrid.h>
#include <edelta/verify/theorems.h>

#include <iostream>

namespace {

double orthogonality_error(const torch::Tensor& q) {
  const auto identity = torch::eye(q.size(-1), q.options());
  return (q.transpose(-2, -1).matmul(q) - identity).abs().max().item<double>();
}

}  // namespace

int main() {
  const auto u = torch::randn({1, 4}), v = torch::randn({1, 4}), k = torch::randn({1, 4});
  const auto beta = torch::ones({1, 1});
  const auto rotation = edelta::ops::cayley_matrix(u, v, beta);
  const auto reflection = edelta::ops::householder_matrix(k);
  std::cout << "rotation: ‖QᵀQ − I‖ = " << orthogonality_error(rotation)
            << ", reflection: " << orthogonality_error(reflection) << "\n";
  for (const double gate : {0.0, 0.25, 0.5, 1.0}) {
    const auto g = edelta::ops::hybrid_matrix(u, v, beta, k, torch::full({1, 1}, gate));
    std::cout << "hybrid at γ = " << gate << ": " << orthogonality_error(g) << "\n";
  }

  edelta::verify::TheoremOptions options;
  options.samples = 20;
  options.sizes = {2, 4, 8};
  const auto report = edelta::verify::verify_theorems(options);
  std::cout << report.rows.size() << " statements, " << report.failures() << " fail\n";
  return orthogonality_error(rotation) < 2e-6 && report.failures() == 0 ? 0 : 1;
}
