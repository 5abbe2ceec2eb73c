#include "edelta/torch.h"

#include "edelta/geometry/gate.h"
#include "experiments/result_figures.h"

namespace edelta::experiments {
namespace {

using geometry::GateRegulariser;
using torch::Tensor;

std::vector<double> to_vector(const Tensor& tensor) {
  const Tensor values = tensor.detach().contiguous();
  return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
}

}  // namespace

Cell regulariser_figure() {
  constexpr std::pair<GateRegulariser, const char*> kRegularisers[] = {
      {GateRegulariser::product, "4γ(1−γ), the paper's"},
      {GateRegulariser::entropy, "entropy"},
      {GateRegulariser::squared_product, "[γ(1−γ)]²"},
      {GateRegulariser::min_distance, "min(γ², (1−γ)²)"}};
  // The ends stay out: the entropy's slope is infinite there.
  const Tensor gamma = torch::linspace(0.005, 0.995, 199, torch::kFloat64).requires_grad_();
  Cell values = Cell::array(), slopes = Cell::array();
  for (const auto& [regulariser, label] : kRegularisers) {
    const Tensor penalty = geometry::gate_penalty(gamma, regulariser);
    const Tensor slope = torch::autograd::grad({penalty.sum()}, {gamma}).front();
    const auto add = [&, label = label](Cell& series, const Tensor& y) {
      series.push_back(
          {{"label", label}, {"style", "solid"}, {"x", to_vector(gamma)}, {"y", to_vector(y)}});
    };
    add(values, penalty);
    add(slopes, slope);
  }
  const auto panel = [](const char* title, const char* label, const Cell& series) {
    return Cell{{"title", title},
                {"kind", "lines"},
                {"x", {{"label", "γ"}, {"log", false}}},
                {"y", {{"label", label}, {"log", false}}},
                {"series", series}};
  };
  return {{"id", "regularisers"},
          {"title", "Gate regularisers"},
          {"caption",
           "What each regulariser charges a gate value, and its slope, which drives the gate to a "
           "decision. The smooth ones have no slope at ½."},
          {"panels", {panel("penalty", "penalty", values), panel("slope", "slope", slopes)}}};
}

}  // namespace edelta::experiments
