// How the recursive puzzle model is trained (specification 13.5): Adam by the angle for its
// weights, steps by the sign for what it knows of each puzzle, and a running mean of the weights.
#pragma once

#include "edelta/torch.h"

#include <cstdint>
#include <string>
#include <vector>

#include "edelta/base/json_fields.h"
#include "edelta/base/safetensors.h"
#include "edelta/models/recursive.h"

namespace edelta::train {

enum class PuzzleAdam { atan2, adamw };

// The names are the published ones.
struct RecursiveProtocol {
  PuzzleAdam optimizer = PuzzleAdam::atan2;
  double lr = 1e-4;
  int64_t lr_warmup_steps = 2000;
  int64_t total_steps = 1;
  double lr_min_ratio = 1;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double weight_decay = 0.1;
  double puzzle_emb_lr = 1e-2;
  double puzzle_emb_weight_decay = 0.1;
  double clip = 1;      // of the gradient's norm; 0: none
  double ema_rate = 0;  // of the running mean; 0: none

  template <class Self, class Visit>
  static void visit_fields(Self& self, Visit visit) {
    visit(Field{"optimizer", "Of the weights"}, self.optimizer);
    visit(Field{"lr", "Peak learning rate"}, self.lr);
    visit(Field{"lr_warmup_steps", "Steps of warm-up"}, self.lr_warmup_steps);
    visit(Field{"total_steps", "Steps"}, self.total_steps);
    visit(Field{"lr_min_ratio", "Learning rate at the end, of the peak"}, self.lr_min_ratio);
    visit(Field{"beta1", "Adam's β1"}, self.beta1);
    visit(Field{"beta2", "Adam's β2"}, self.beta2);
    visit(Field{"weight_decay", "Of the weights"}, self.weight_decay);
    visit(Field{"puzzle_emb_lr", "Peak learning rate of the puzzles' table"}, self.puzzle_emb_lr);
    visit(Field{"puzzle_emb_weight_decay", "Of the puzzles' table"}, self.puzzle_emb_weight_decay);
    visit(Field{"clip", "Largest norm of the gradient; 0: any"}, self.clip);
    visit(Field{"ema_rate", "Of the weights' running mean; 0: none"}, self.ema_rate);
  }
};

// Of a peak `base`, at steps that count from 1.
double learning_rate(const RecursiveProtocol& protocol, double base, int64_t step);

class RecursiveOptimiser {
 public:
  RecursiveOptimiser(models::RecursiveModel& model, const RecursiveProtocol& protocol);

  // Takes a step with the gradients that are there, and clears them. `identifiers` are those of the
  // rows in output.puzzle_rows. Returns the norm of the weights' gradient before it is clipped.
  double step(const models::PuzzleOutput& output, const torch::Tensor& identifiers);

  int64_t steps() const { return steps_; }
  // The weights' learning rate of the last step.
  double rate() const { return rate_of(protocol_.lr); }
  // The running mean of a parameter, by its name; undefined without one.
  torch::Tensor mean_of(const std::string& parameter) const;
  // Exchanges the weights with their running means, where there are any: twice is as before.
  void swap_means();
  double parameter_norm() const;

  // "first/<name>", "second/<name>" and, where there are means, "mean/<name>"; and back.
  base::TensorMap state() const;
  void load_state(const base::TensorMap& state, int64_t steps, const std::string& source);

 private:
  // Of a peak `base`, at this step.
  double rate_of(double base) const;
  // Returns the norm of the gradient before it is clipped.
  double step_weights();
  void step_puzzles(const torch::Tensor& rows, const torch::Tensor& identifiers);

  struct Weight {
    std::string name;
    torch::Tensor value, first_moment, second_moment, mean;
  };

  RecursiveProtocol protocol_;
  std::vector<Weight> weights_;
  torch::Tensor puzzle_table_;
  int64_t steps_ = 0;
};

}  // namespace edelta::train
