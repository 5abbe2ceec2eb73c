#include "edelta/models/recursive.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "edelta/base/error.h"
#include "models/recursive/level.h"
#include "models/recursive/losses.h"
#include "models/recursive/sublayers.h"

namespace edelta::models {

using torch::Tensor;

// Rows of numbers by whole number, with the published name.
class Table : public torch::nn::Module {
 public:
  Table(int64_t rows, int64_t width)
      : weight(register_parameter("embedding_weight", torch::zeros({rows, width}))) {}
  Tensor weight;
};

// Trained by an optimiser of its own, through the rows that a step took: it may be large.
class PuzzleTable : public torch::nn::Module {
 public:
  PuzzleTable(int64_t puzzles, int64_t width)
      : weights(register_buffer("weights", torch::zeros({puzzles, width}))) {}
  Tensor rows(const Tensor& identifiers) const {
    return weights.index_select(0, identifiers.flatten()).detach();
  }
  Tensor weights;
};

namespace {

constexpr int64_t kReasoningStates = 6;  // of trm-hier6

torch::nn::Linear head(int64_t in, int64_t out, bool bias) {
  return torch::nn::Linear(torch::nn::LinearOptions(in, out).bias(bias));
}

// How the states are called, and the buffers that they start with.
std::vector<std::pair<std::string, std::string>> state_names(Recursion kind) {
  switch (kind) {
    case Recursion::single:
      return {{"z_L", "L_init"}};
    case Recursion::transformer:
      return {{"z_H", "H_init"}};
    case Recursion::hier6: {
      std::vector<std::pair<std::string, std::string>> names{{"z_H", "H_init"}};
      for (int64_t k = 1; k <= kReasoningStates; ++k) {
        names.emplace_back("z_L" + std::to_string(k), "L" + std::to_string(k) + "_init");
      }
      return names;
    }
    case Recursion::trm:
    case Recursion::hrm:
      break;
  }
  return {{"z_H", "H_init"}, {"z_L", "L_init"}};
}

Tensor sum_of_reasoning(const std::map<std::string, Tensor>& z) {
  Tensor sum = z.at("z_L1");
  for (int64_t k = 2; k <= kReasoningStates; ++k) sum = sum + z.at("z_L" + std::to_string(k));
  return sum;
}

Tensor rows_where(const Tensor& which, const Tensor& a, const Tensor& b) {
  std::vector<int64_t> shape(a.dim(), 1);
  shape[0] = which.size(0);
  return torch::where(which.view(shape), a, b);
}

}  // namespace

// What a pass gathers on its way.
struct RecursiveModel::Thought {
  LevelSeen seen = {};
  ops::RotaryTables rotary = {};
  std::vector<std::pair<std::string, Tensor>>* levels = nullptr;  // null: not recorded
};

RecursiveModel::RecursiveModel(const RecursiveConfig& config, uint64_t seed)
    : config_(config), lm_head_(nullptr), q_head_(nullptr) {
  validate(config);
  const int64_t width = config.hidden_size;
  embed_tokens_ =
      register_module("embed_tokens", std::make_shared<Table>(config.vocab_size, width));
  lm_head_ = register_module("lm_head", head(width, config.vocab_size, /*bias=*/false));
  q_head_ = register_module("q_head", head(width, 2, /*bias=*/true));
  if (config.puzzle_emb_ndim > 0) {
    puzzle_emb_ = register_module(
        "puzzle_emb",
        std::make_shared<PuzzleTable>(config.num_puzzle_identifiers, config.puzzle_emb_ndim));
  }
  if (config.pos_encodings == Positions::learned) {
    embed_pos_ = register_module("embed_pos", std::make_shared<Table>(config.positions(), width));
  }
  if (config.kind == Recursion::hrm || config.kind == Recursion::transformer) {
    H_level_ = register_module("H_level", std::make_shared<Level>(config, config.H_layers));
  }
  if (config.kind != Recursion::transformer) {
    L_level_ = register_module("L_level", std::make_shared<Level>(config, config.L_layers));
  }
  for (const auto& [state, buffer] : state_names(config.kind)) {
    starts_.emplace_back(state, register_buffer(buffer, torch::zeros({width})));
  }
  if (config.pos_encodings == Positions::rope) {
    rotary_ = ops::rotary_tables(config.positions(), config.head_size(), config.rope_theta,
                                 torch::kFloat64);
  }
  initialise(seed);
}

Tensor RecursiveModel::puzzle_table() const {
  return puzzle_emb_ ? puzzle_emb_->weights : Tensor();
}

int64_t RecursiveModel::parameter_count() const {
  int64_t count = 0;
  for (const Tensor& parameter : parameters()) count += parameter.numel();
  return count;
}

int64_t count_parameters(const RecursiveConfig& config) {
  RecursiveConfig alone = config;
  alone.num_puzzle_identifiers = 1;
  return RecursiveModel(alone, /*seed=*/0).parameter_count();
}

void RecursiveModel::initialise(uint64_t seed) {
  const torch::NoGradGuard no_grad;
  at::Generator generator = at::detail::createCPUGenerator(seed);
  initialise_rows(embed_tokens_->weight, generator);
  initialise_rows(lm_head_->weight, generator);
  q_head_->weight.zero_();
  q_head_->bias.fill_(-5);
  if (embed_pos_) initialise_rows(embed_pos_->weight, generator);
  for (const auto& level : {H_level_, L_level_}) {
    if (level) level->initialise(generator);
  }
  for (const auto& [state, start] : starts_) truncated_normal(start, 1, generator);
}

Tensor RecursiveModel::embed(const Tensor& inputs, const Tensor& puzzle_rows) const {
  Tensor e = torch::embedding(embed_tokens_->weight, inputs);
  if (puzzle_rows.defined()) {
    const int64_t positions = config_.puzzle_positions(), width = config_.hidden_size;
    const Tensor padded =
        torch::constant_pad_nd(puzzle_rows, {0, positions * width - puzzle_rows.size(-1)});
    e = torch::cat({padded.view({-1, positions, width}), e}, 1);
  }
  if (embed_pos_) e = 0.707106781 * (e + embed_pos_->weight);  // 1/√2, as published
  return std::sqrt(static_cast<double>(config_.hidden_size)) * e;
}

Tensor RecursiveModel::call(Level& level, const char* name, const Tensor& x, Thought& thought) {
  const Tensor y = level.forward(x, thought.rotary, thought.seen);
  if (thought.levels != nullptr) thought.levels->emplace_back(name, y);
  return y;
}

void RecursiveModel::cycle(Latents& z, const Tensor& e, Thought& thought) {
  const auto level = [&](const Tensor& x) { return call(*L_level_, "L_level", x, thought); };
  switch (config_.kind) {
    case Recursion::single:
      for (int64_t i = 0; i < config_.L_cycles; ++i) z["z_L"] = level(z["z_L"] + e);
      z["z_L"] = level(z["z_L"]);
      return;
    case Recursion::hier6:
      for (int64_t k = 1; k <= config_.L_cycles; ++k) {
        z["z_L" + std::to_string(k)] = level(sum_of_reasoning(z) + (z["z_H"] + e));
      }
      z["z_H"] = level(z["z_H"] + sum_of_reasoning(z));
      return;
    default:
      for (int64_t i = 0; i < config_.L_cycles; ++i) {
        z["z_L"] = level(z["z_L"] + (z["z_H"] + e));
      }
      z["z_H"] = level(z["z_H"] + z["z_L"]);
  }
}

// Gradient through the last call of each level alone.
void RecursiveModel::think_hierarchically(Latents& z, const Tensor& e, Thought& thought) {
  const auto reason = [&] {
    z["z_L"] = call(*L_level_, "L_level", z["z_L"] + (z["z_H"] + e), thought);
  };
  const auto answer = [&] { z["z_H"] = call(*H_level_, "H_level", z["z_H"] + z["z_L"], thought); };
  {
    const torch::NoGradGuard no_grad;
    for (int64_t i = 0; i < config_.H_cycles; ++i) {
      const bool last = i + 1 == config_.H_cycles;
      for (int64_t j = 0; j < config_.L_cycles - (last ? 1 : 0); ++j) reason();
      if (!last) answer();
    }
  }
  reason();
  answer();
}

void RecursiveModel::think(Latents& z, const Tensor& e, Thought& thought) {
  if (config_.kind == Recursion::hrm) return think_hierarchically(z, e, thought);
  if (config_.kind == Recursion::transformer) {
    z["z_H"] = call(*H_level_, "H_level", z["z_H"] + e, thought);
    return;
  }
  {
    const torch::NoGradGuard no_grad;
    for (int64_t i = 0; i + 1 < config_.H_cycles; ++i) cycle(z, e, thought);
  }
  cycle(z, e, thought);
}

const Tensor& RecursiveModel::answer(const Latents& z) const {
  return z.at(config_.kind == Recursion::single ? "z_L" : "z_H");
}

Tensor RecursiveModel::beliefs(const Latents& z) { return q_head_(answer(z).select(1, 0)); }

void RecursiveModel::take_new_rows(const PuzzleBatch& batch, State& carry) const {
  const int64_t rows = batch.inputs.size(0);
  const std::map<std::string, Tensor> offered{
      {"inputs", batch.inputs.to(torch::kInt64)},
      {"labels", batch.labels.to(torch::kInt64)},
      {"puzzle_identifiers", batch.identifiers.to(torch::kInt64)}};
  const bool fresh = carry.empty();
  if (fresh) {
    carry["halted"] = torch::ones({rows}, torch::kBool);
    carry["steps"] = torch::zeros({rows}, torch::kInt64);
  }
  const Tensor halted = carry.at("halted");
  for (const auto& [name, values] : offered) {
    carry[name] = fresh ? values : rows_where(halted, values, carry.at(name));
  }
  carry["steps"] = torch::where(halted, torch::zeros_like(carry["steps"]), carry["steps"]);
  for (const auto& [state, row] : starts_) {
    const Tensor start = row.expand({rows, config_.positions(), -1});
    carry[state] = fresh ? start.clone() : rows_where(halted, start, carry.at(state));
  }
}

State RecursiveModel::form_of_carry(int64_t rows) const {
  const int64_t cells = config_.seq_len;
  State form{{"halted", torch::empty({rows}, torch::kBool)},
             {"steps", torch::empty({rows}, torch::kInt64)},
             {"inputs", torch::empty({rows, cells}, torch::kInt64)},
             {"labels", torch::empty({rows, cells}, torch::kInt64)},
             {"puzzle_identifiers", torch::empty({rows}, torch::kInt64)}};
  for (const auto& [state, start] : starts_) {
    form[state] = torch::empty({rows, config_.positions(), config_.hidden_size}, start.options());
  }
  return form;
}

void RecursiveModel::require_carry(const State& carry, int64_t rows,
                                   const std::string& source) const {
  const State expected = form_of_carry(rows);
  const auto refuse = [&](const std::string& name) {
    throw InputError(fmt::format("{}: the carried '{}' is not the model's", source, name));
  };
  for (const auto& [name, tensor] : carry) {
    if (!expected.contains(name)) refuse(name);
  }
  for (const auto& [name, form] : expected) {
    const auto found = carry.find(name);
    if (found == carry.end() || found->second.sizes() != form.sizes() ||
        found->second.scalar_type() != form.scalar_type()) {
      refuse(name);
    }
  }
  const auto require_below = [&](const std::string& name, int64_t bound) {
    const Tensor& values = carry.at(name);
    if (((values < 0) | (values >= bound)).any().item<bool>()) refuse(name);
  };
  require_below("inputs", config_.vocab_size);
  require_below("puzzle_identifiers", config_.num_puzzle_identifiers);
  const Tensor& labels = carry.at("labels");
  const Tensor asked = labels != ops::kIgnoredCell;
  if ((asked & ((labels < 0) | (labels >= config_.vocab_size))).any().item<bool>())
    refuse("labels");
}

PuzzleOutput RecursiveModel::step(const PuzzleBatch& batch, State& carry,
                                  const std::optional<Exploration>& exploration, bool record) {
  take_new_rows(batch, carry);
  PuzzleOutput output;
  Thought thought;
  if (record) thought.levels = &output.levels;
  const auto options = lm_head_->weight.options().requires_grad(false);
  if (rotary_.cos.defined()) thought.rotary = {rotary_.cos.to(options), rotary_.sin.to(options)};
  Latents z;
  for (const auto& [state, start] : starts_) z[state] = carry.at(state);
  if (puzzle_emb_) {
    output.puzzle_rows = puzzle_emb_->rows(carry.at("puzzle_identifiers"));
    if (is_training()) output.puzzle_rows.requires_grad_();
  }
  const Tensor e = embed(carry.at("inputs"), output.puzzle_rows);
  if (record) output.embedded = e;
  think(z, e, thought);
  output.gates = thought.seen.gates;
  output.gate_loss =
      thought.seen.gate_loss.defined() ? thought.seen.gate_loss : torch::zeros({}, options);
  output.logits = lm_head_(answer(z).slice(1, config_.puzzle_positions()));
  const Tensor q = beliefs(z);
  output.q_halt = q.select(-1, 0);
  output.q_continue = q.select(-1, 1);

  for (auto& [state, value] : z) carry[state] = value = value.detach();
  carry["steps"] = carry["steps"] + 1;
  const Tensor last = carry["steps"] >= config_.halt_max_steps;
  Tensor halted = last;
  if (is_training() && config_.halt_max_steps > 1) {
    const torch::NoGradGuard no_grad;
    halted = halted | (config_.compares_continuing() ? output.q_halt > output.q_continue
                                                     : output.q_halt > 0);
    if (exploration) {
      const Tensor insists = exploration->u < config_.halt_exploration_prob;
      const Tensor least = torch::where(insists, exploration->r.to(torch::kInt64),
                                        torch::zeros_like(carry["steps"]));
      halted = halted & (carry["steps"] >= least);
    }
    if (config_.looks_ahead()) {
      think(z, e, thought);
      const Tensor next = beliefs(z);
      const Tensor halt = next.select(-1, 0), go_on = next.select(-1, 1);
      output.target_q_continue =
          torch::sigmoid(torch::where(last, halt, torch::maximum(halt, go_on)));
    }
  }
  carry["halted"] = halted;
  judge(output, carry);
  return output;
}

}  // namespace edelta::models
