// What a recursive puzzle model is (specification 13): a plain struct that round-trips through JSON
// with the published names.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "edelta/base/json_fields.h"

namespace edelta::models {

// How the latent states follow from each other within a step.
enum class Recursion {
  trm,         // an answer z_H and a reasoning z_L, one level for both
  hrm,         // a level for each, gradient through the last call of each alone
  single,      // one state
  hier6,       // six reasoning states, one call for each
  transformer  // no recursion: the baseline
};
// What stands in place of the residual connection.
enum class Mixer { none, jpmhc, edelta };
enum class MixerInit {
  published,  // EΔ's rotation starts, and stays, at the identity
  live        // every row of the mixer gets a gradient
};
enum class Positions { rope, learned, none };

struct RecursiveConfig {
  Recursion kind = Recursion::trm;
  int64_t seq_len = 81;  // S, cells of a grid
  int64_t vocab_size = 11;
  int64_t num_puzzle_identifiers = 1;
  int64_t puzzle_emb_ndim = 512;
  int64_t puzzle_emb_len = 16;
  int64_t H_cycles = 3;
  int64_t L_cycles = 6;
  int64_t H_layers = 0;
  int64_t L_layers = 2;
  int64_t hidden_size = 512;  // D
  double expansion = 4;
  int64_t num_heads = 8;
  Positions pos_encodings = Positions::rope;
  double rms_norm_eps = 1e-5;
  double rope_theta = 10000;
  int64_t halt_max_steps = 16;
  double halt_exploration_prob = 0.1;
  bool mlp_t = false;
  bool no_ACT_continue = true;
  Mixer mixer_type = Mixer::none;
  MixerInit mixer_init = MixerInit::live;
  bool mixer_operator = true;  // false: EΔ's routes alone, the control
  int64_t n_streams = 4;
  double cayley_alpha = 0.1;
  int64_t cayley_iters = 2;
  int64_t geo_hidden_dim = 48;
  double gate_reg_weight = 0.1;
  double init_gate_bias = 0;
  // Inner widths are rounded up to a multiple of it; 256 is the published rule.
  int64_t width_multiple = 256;

  // P, before those of the grid.
  int64_t puzzle_positions() const;
  // T = P + S
  int64_t positions() const { return puzzle_positions() + seq_len; }
  int64_t head_size() const { return hidden_size / num_heads; }
  // Layers that a gradient goes through in one step, each time that it does.
  int64_t layers_with_gradient() const;
  // Of a SwiGLU that works at `width`.
  int64_t inner_width(int64_t width) const;
  // Whether a row halts where it believes more in halting than in going on, instead of where it
  // believes in halting at all.
  bool compares_continuing() const;
  // Whether the belief in going on is trained, by a look at the next step.
  bool looks_ahead() const;

  template <class Self, class Visit>
  static void visit_fields(Self& self, Visit visit) {
    visit(Field{"kind", ""}, self.kind);
    visit(Field{"seq_len", ""}, self.seq_len);
    visit(Field{"vocab_size", ""}, self.vocab_size);
    visit(Field{"num_puzzle_identifiers", ""}, self.num_puzzle_identifiers);
    visit(Field{"puzzle_emb_ndim", "Numbers that tell of a puzzle which it is; 0: none",
                "puzzle_width"},
          self.puzzle_emb_ndim);
    visit(Field{"puzzle_emb_len", "Positions that they take; 0: as few as possible",
                "puzzle_positions"},
          self.puzzle_emb_len);
    visit(Field{"H_cycles", "Cycles of the answer", "h_cycles"}, self.H_cycles);
    visit(Field{"L_cycles", "Cycles of the reasoning within one of the answer", "l_cycles"},
          self.L_cycles);
    visit(Field{"H_layers", "Depth of the answer's own level, where it has one", "h_layers"},
          self.H_layers);
    visit(Field{"L_layers", "Depth", "layers"}, self.L_layers);
    visit(Field{"hidden_size", "Width D", "width"}, self.hidden_size);
    visit(Field{"expansion", "Of SwiGLU's inner width"}, self.expansion);
    visit(Field{"num_heads", "Attention heads", "heads"}, self.num_heads);
    visit(Field{"pos_encodings", "What tells positions apart: rope, learned or none", "positions"},
          self.pos_encodings);
    visit(Field{"rms_norm_eps", ""}, self.rms_norm_eps);
    visit(Field{"rope_theta", ""}, self.rope_theta);
    visit(Field{"halt_max_steps", "Steps on one puzzle at most", "act_steps"}, self.halt_max_steps);
    visit(Field{"halt_exploration_prob", "How often training insists on more steps", "exploration"},
          self.halt_exploration_prob);
    visit(Field{"mlp_t", "An MLP over positions in place of attention"}, self.mlp_t);
    visit(Field{"no_ACT_continue", "Halt by the belief in halting alone", "no_act_continue"},
          self.no_ACT_continue);
    visit(Field{"mixer_type",
                "none, jpmhc or edelta in place of the residual connection; with attention, at a "
                "fraction of the width",
                "mixer"},
          self.mixer_type);
    visit(Field{"mixer_init", "How EΔ starts: live or published, whose rotation never learns"},
          self.mixer_init);
    visit(Field{"mixer_operator", "EΔ's rotation and reflection; false: its routes alone"},
          self.mixer_operator);
    visit(Field{"n_streams", "Streams n of a mixer", "streams"}, self.n_streams);
    visit(Field{"cayley_alpha", "Step of JPmHC's iteration"}, self.cayley_alpha);
    visit(Field{"cayley_iters", "Iterations of JPmHC's mixer", "cayley_iterations"},
          self.cayley_iters);
    visit(Field{"geo_hidden_dim", "Hidden width of EΔ's generator"}, self.geo_hidden_dim);
    visit(Field{"gate_reg_weight", "Weight of the gate's regulariser", "gate_weight"},
          self.gate_reg_weight);
    visit(Field{"init_gate_bias", "Bias of the gate at the start"}, self.init_gate_bias);
    visit(Field{"width_multiple", "SwiGLU's inner width is a multiple of it"}, self.width_multiple);
  }
};

// Throws InputError that names the key when a value is impossible.
void validate(const RecursiveConfig& config);

// What the model has at least, besides its table of puzzles: known before anything is allocated.
double least_parameters(const RecursiveConfig& config);
// InputError where the table and so many weights, `copies` times, do not fit into the memory there
// is.
void require_memory(const RecursiveConfig& config, double copies = 1);

nlohmann::ordered_json to_json(const RecursiveConfig& config);
// As model_config_from_json (edelta/models/config.h).
RecursiveConfig recursive_config_from_json(const nlohmann::json& json, const std::string& source,
                                           const std::set<std::string>& ignored = {});

}  // namespace edelta::models
