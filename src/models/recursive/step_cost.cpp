// What a step of the recursive model costs.
#include "edelta/models/recursive.h"

namespace edelta::models {
namespace {

// Multiply-adds of one call of a level for one position, those of attention's scores and sums
// apart: on the way back these cost two and a half times as much as forward, linear maps twice.
struct LevelWork {
  LevelWork(const RecursiveModel& model, const std::string& level) {
    const RecursiveConfig& config = model.config();
    for (const auto& item : model.named_parameters()) {
      const torch::Tensor& weight = item.value();
      if (!item.key().starts_with(level + ".") || weight.dim() != 2) continue;
      const auto numbers = static_cast<double>(weight.numel());
      // A map over positions works once for each channel of a sequence.
      const bool over_positions = item.key().find(".mlp_t.") != std::string::npos;
      maps += over_positions ? numbers * static_cast<double>(config.hidden_size) /
                                   static_cast<double>(config.positions())
                             : numbers;
      if (item.key().ends_with("o_proj.weight")) {
        attention += 2 * static_cast<double>(config.positions() * weight.size(1));
      }
    }
  }
  double forward() const { return 2 * (maps + attention); }
  double forward_and_backward() const { return 6 * maps + 7 * attention; }

  double maps = 0, attention = 0;
};

}  // namespace

double RecursiveModel::step_gflop(int64_t rows) const {
  const auto h_cycles = static_cast<double>(config_.H_cycles);
  const auto l_cycles = static_cast<double>(config_.L_cycles);
  const LevelWork reasoning(*this, "L_level"), answering(*this, "H_level");
  double thinking = 0, again = 0;  // for one position; `again`: a look at the next step
  switch (config_.kind) {
    case Recursion::transformer:
      thinking = answering.forward_and_backward();
      break;
    case Recursion::hrm:
      again = h_cycles * (l_cycles * reasoning.forward() + answering.forward());
      thinking = again - reasoning.forward() - answering.forward() +
                 reasoning.forward_and_backward() + answering.forward_and_backward();
      break;
    default:
      again = h_cycles * (l_cycles + 1) * reasoning.forward();
      thinking = (l_cycles + 1) *
                 ((h_cycles - 1) * reasoning.forward() + reasoning.forward_and_backward());
  }
  if (config_.looks_ahead()) thinking += again;
  const auto head = static_cast<double>(config_.hidden_size * config_.vocab_size);
  return 1e-9 * static_cast<double>(rows * config_.positions()) * (thinking + 6 * head);
}

}  // namespace edelta::models
