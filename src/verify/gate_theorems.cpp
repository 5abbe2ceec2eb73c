// The slopes of the gate regularisers: what pulls a gate off the fence, and what holds it at a
// decision. Every slope is taken twice, by autograd and by differences.
#include <fmt/format.h>

#include "verify/theorem_samples.h"

namespace edelta::verify {
namespace {

using geometry::GateRegulariser;
using torch::Tensor;

// One regulariser as a function of a single gate.
class Penalty {
 public:
  Penalty(const OperatorsUnderTest& op, GateRegulariser regulariser)
      : op_(op), regulariser_(regulariser) {}

  double operator()(double gamma) const { return at(scalar(gamma)).item<double>(); }

  double slope(double gamma) const {
    const Tensor g = scalar(gamma).requires_grad_();
    return torch::autograd::grad({at(g)}, {g})[0].item<double>();
  }

  // Three points on one side, h > 0 to the right, error h² f‴/3: f need not be smooth, nor even
  // defined, on the other side.
  double one_sided(double gamma, double h) const {
    return (-3 * (*this)(gamma) + 4 * (*this)(gamma + h) - (*this)(gamma + 2 * h)) / (2 * h);
  }

  double central(double gamma, double h) const {
    const double near = (*this)(gamma + h) - (*this)(gamma - h);
    const double far = (*this)(gamma + 2 * h) - (*this)(gamma - 2 * h);
    return (8 * near - far) / (12 * h);
  }

 private:
  static Tensor scalar(double gamma) { return torch::full({}, gamma, torch::kFloat64); }
  Tensor at(const Tensor& gamma) const { return op_.gate_penalty(gamma, regulariser_); }

  const OperatorsUnderTest& op_;
  GateRegulariser regulariser_;
};

constexpr double kStep = 1e-5;

// The largest of the differences given; not a number if one is.
double worst_of(std::initializer_list<double> differences) {
  double worst = 0;
  for (const double difference : differences) {
    if (!(std::abs(difference) <= worst)) worst = std::abs(difference);
    if (std::isnan(worst)) break;
  }
  return worst;
}

double difference_at_boundaries(const Penalty& f, double at_zero, double at_one) {
  return worst_of({f.slope(0) - at_zero, f.one_sided(0, kStep) - at_zero, f.slope(1) - at_one,
                   f.one_sided(1, -kStep) - at_one});
}

// f(γ) = f(1 − γ) and smoothness imply f′(½) = 0: nothing pushes a gate that starts undecided.
TheoremRow midpoint_slope(const SampleSet& all, const OperatorsUnderTest& op) {
  double worst = 0;
  for (const GateRegulariser regulariser :
       {GateRegulariser::product, GateRegulariser::entropy, GateRegulariser::squared_product}) {
    const Penalty f(op, regulariser);
    const double asymmetry = largest(all, [&](const Samples& s) {
      return (op.gate_penalty(s.gamma, regulariser) - op.gate_penalty(1 - s.gamma, regulariser))
          .abs();
    });
    worst = worst_of({worst, asymmetry, f.slope(0.5), f.central(0.5, 1e-3)});
  }
  return {"a smooth symmetric regulariser has slope 0 at γ = ½",
          "largest |slope| and asymmetry: product, entropy, squared product", worst,
          Relation::at_most, 1e-10};
}

TheoremRow product_slopes(const SampleSet&, const OperatorsUnderTest& op) {
  const Penalty f(op, GateRegulariser::product);
  return {"4γ(1 − γ) has slope +4 at γ = 0 and −4 at γ = 1", "largest difference from them",
          difference_at_boundaries(f, 4, -4), Relation::at_most, 1e-8};
}

// Differences lose their digits to 1 − γ closer than 1e-3 to a boundary; autograd does not.
TheoremRow entropy_slopes(const SampleSet&, const OperatorsUnderTest& op) {
  const Penalty f(op, GateRegulariser::entropy);
  double worst = 0;
  for (int decade = 1; decade <= 12; ++decade) {
    for (const double gamma : {std::pow(10, -decade), 1 - std::pow(10, -decade)}) {
      const double expected = std::log((1 - gamma) / gamma);
      worst = worst_of({worst, f.slope(gamma) / expected - 1});
      if (decade > 3) continue;
      const double h = 1e-3 * std::min(gamma, 1 - gamma);
      worst = worst_of({worst, f.central(gamma, h) / expected - 1});
    }
  }
  return {"the entropy has slope ln((1 − γ)/γ): it diverges at both boundaries, logarithmically",
          "largest relative difference, 1e-12 ≤ γ ≤ 1 − 1e-12",
          worst,
          Relation::at_most,
          1e-8,
          fmt::format("slope {:.1f} at γ = 1e-12", f.slope(1e-12))};
}

TheoremRow squared_product_slopes(const SampleSet&, const OperatorsUnderTest& op) {
  const Penalty f(op, GateRegulariser::squared_product);
  return {"[γ(1 − γ)]² has slope 0 at both boundaries: it lets go of a decided gate",
          "largest |slope|", difference_at_boundaries(f, 0, 0), Relation::at_most, 1e-8};
}

TheoremRow min_distance_slopes(const SampleSet&, const OperatorsUnderTest& op) {
  const Penalty f(op, GateRegulariser::min_distance);
  constexpr double kBeside = 0x1p-32;  // its slope there differs from the limit by 2⁻³¹
  return {"min(γ², (1 − γ)²) has slope 0 at both boundaries and a kink at ½: +1 before, −1 after",
          "largest difference from them",
          worst_of({difference_at_boundaries(f, 0, 0), f.slope(0.5 - kBeside) - 1,
                    f.slope(0.5 + kBeside) + 1, f.one_sided(0.5, -kStep) - 1,
                    f.one_sided(0.5, kStep) + 1}),
          Relation::at_most, 1e-8};
}

}  // namespace

Statements gate_theorems() {
  return {{"midpoint-slope", midpoint_slope},
          {"product-slopes", product_slopes},
          {"entropy-slopes", entropy_slopes},
          {"squared-product-slopes", squared_product_slopes},
          {"min-distance-slopes", min_distance_slopes}};
}

}  // namespace edelta::verify
