// The recursive puzzle model (specification 13): all cells of a grid at once, from latent states
// that one small stack of blocks improves again and again, in steps that carry them on.
#pragma once

#include "edelta/torch.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "edelta/models/model.h"
#include "edelta/models/recursive_config.h"
#include "edelta/ops/puzzle.h"

namespace edelta::models {

class Level;
class Table;
class PuzzleTable;

struct PuzzleBatch {
  torch::Tensor inputs;       // [B, S] whole numbers below the vocabulary
  torch::Tensor labels;       // [B, S]; ops::kIgnoredCell: no answer is asked for
  torch::Tensor identifiers;  // [B], of the puzzle each row is a view of
};

// What makes training insist on more steps: a row with u below the probability takes r at least.
struct Exploration {
  torch::Tensor u;  // [B], uniform in [0, 1)
  torch::Tensor r;  // [B], whole numbers from 2 to halt_max_steps
};

// Sums over the rows that halted and have an answer.
struct PuzzleMetrics {
  torch::Tensor count, accuracy, exact_accuracy, q_halt_accuracy, steps;
};

struct PuzzleOutput {
  torch::Tensor logits;              // [B, S, V]
  torch::Tensor predictions;         // [B, S], the likeliest
  torch::Tensor q_halt, q_continue;  // [B]: beliefs in the answer, and in another step
  torch::Tensor target_q_continue;   // [B], undefined where none is trained on
  // Sums over rows; what is not there is zero. A step minimises total() by the batch's size.
  torch::Tensor lm_loss, q_halt_loss, q_continue_loss, gate_loss;
  PuzzleMetrics metrics;
  // The rows of the puzzles' table that were used: their gradients are those of the table.
  torch::Tensor puzzle_rows;
  std::vector<torch::Tensor> gates;  // γ of the last call
  // With `record`: what is embedded, and what every call of a level gave, in order.
  torch::Tensor embedded;
  std::vector<std::pair<std::string, torch::Tensor>> levels;

  torch::Tensor total() const {
    return lm_loss + 0.5 * (q_halt_loss + q_continue_loss) + gate_loss;
  }
};

class RecursiveModel : public torch::nn::Module {
 public:
  RecursiveModel(const RecursiveConfig& config, uint64_t seed);

  // One step on the puzzles in `carry`; rows that halted, at first all, take those of the batch.
  // `carry` (z_…, steps, halted, inputs, labels, puzzle_identifiers) then has the states after it,
  // without gradient. When training, rows may halt early, and `exploration` may keep them; in
  // evaluation all rows take halt_max_steps steps.
  PuzzleOutput step(const PuzzleBatch& batch, State& carry,
                    const std::optional<Exploration>& exploration = {}, bool record = false);

  // InputError that names `source` where a carry of so many rows, read from a file, is not one that
  // step() may go on with.
  void require_carry(const State& carry, int64_t rows, const std::string& source) const;
  // The form of a carry: tensors of its names, shapes and types with nothing in them.
  State form_of_carry(int64_t rows) const;

  const RecursiveConfig& config() const { return config_; }
  // Of the weights, without what it knows of each puzzle.
  int64_t parameter_count() const;
  // Of a training step on so many rows; maps and attention count, and each call of a level.
  double step_gflop(int64_t rows) const;
  // What the model knows of each puzzle, [puzzles, numbers]; undefined where it has none. No
  // parameter: a step trains the rows that it used, PuzzleOutput::puzzle_rows.
  torch::Tensor puzzle_table() const;

 private:
  using Latents = std::map<std::string, torch::Tensor>;
  struct Thought;

  torch::Tensor embed(const torch::Tensor& inputs, const torch::Tensor& puzzle_rows) const;
  torch::Tensor call(Level& level, const char* name, const torch::Tensor& x, Thought& thought);
  void cycle(Latents& z, const torch::Tensor& e, Thought& thought);
  void think_hierarchically(Latents& z, const torch::Tensor& e, Thought& thought);
  // The states after the step; with gradient through its last part.
  void think(Latents& z, const torch::Tensor& e, Thought& thought);
  // The beliefs in halting and in going on, [B, 2].
  torch::Tensor beliefs(const Latents& z);
  const torch::Tensor& answer(const Latents& z) const;
  void initialise(uint64_t seed);
  void take_new_rows(const PuzzleBatch& batch, State& carry) const;

  RecursiveConfig config_;
  std::shared_ptr<Table> embed_tokens_, embed_pos_;
  std::shared_ptr<PuzzleTable> puzzle_emb_;
  torch::nn::Linear lm_head_, q_head_;
  std::shared_ptr<Level> H_level_, L_level_;
  // The states' names and where they start.
  std::vector<std::pair<std::string, torch::Tensor>> starts_;
  ops::RotaryTables rotary_;
};

int64_t count_parameters(const RecursiveConfig& config);

// With a width that comes closest to so many parameters.
RecursiveConfig matched_to(const RecursiveConfig& config, int64_t parameters);

}  // namespace edelta::models
