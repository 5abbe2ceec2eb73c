#include "geometry/operator_decoding.h"

#include <algorithm>
#include <cmath>

#include "kernels/geodesic.h"
#include "kernels/hybrid.h"
#include "kernels/scratch.h"
#include "kernels/unitary.h"

namespace edelta::geometry {
namespace {

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The kernels' arguments, each an array over all rows.
struct Arguments {
  Arguments(int64_t rows, int64_t n, kernels::Scratch& scratch)
      : u(scratch.floats(rows * n)),
        v(scratch.floats(rows * n)),
        beta(scratch.floats(rows)),
        k(scratch.floats(rows * n)),
        gamma(scratch.floats(rows)) {}
  float *u, *v, *beta, *k, *gamma;
};

// A branch alone is the blend at one end of the gate, whatever the other branch would be.
double gate_of(const float* logit, Branch branch, Blend blend) {
  if (branch == Branch::cayley) return 1;
  if (branch == Branch::householder) return 0;
  const double gamma = sigmoid(*logit);
  if (blend == Blend::hard) return static_cast<float>(gamma) > 0.5F ? 1 : 0;
  return gamma;
}

}  // namespace

OperatorDecoding::OperatorDecoding(std::unique_ptr<GeneratorDecoding> generator, int64_t streams,
                                   Branch branch, Blend blend, ScalarField field)
    : generator_(std::move(generator)),
      n_(streams),
      branch_(branch),
      blend_(blend),
      field_(field) {}

void OperatorDecoding::operator()(int64_t rows, const float* pooled, float* g) const {
  kernels::Scratch scratch;
  float* numbers = scratch.floats(rows * row_length(n_, branch_));
  (*generator_)(rows, pooled, numbers);
  const Arguments a(rows, n_, scratch);
  const float* next = numbers;
  const auto take = [&](bool there, int64_t row, float* to) {
    if (there) {
      std::copy_n(next, n_, to + row * n_);
      next += n_;
    } else {
      std::fill_n(to + row * n_, n_, 0.0F);
    }
  };
  for (int64_t row = 0; row < rows; ++row) {
    take(has_rotation(branch_), row, a.u);
    take(has_rotation(branch_), row, a.v);
    a.beta[row] = has_rotation(branch_) ? static_cast<float>(softplus(*next++)) : 1.0F;
    take(has_reflection(branch_), row, a.k);
    a.gamma[row] = static_cast<float>(gate_of(next, branch_, blend_));
    if (has_gate(branch_)) ++next;
  }
  const kernels::HybridForward arguments{rows, n_, a.u, a.v, a.beta, a.k, a.gamma, g};
  if (field_ == ScalarField::complex) return unitary_forward(arguments);
  const bool turns = blend_ == Blend::geodesic && branch_ == Branch::hybrid;
  turns ? geodesic_forward(arguments) : hybrid_forward(arguments);
}

}  // namespace edelta::geometry
