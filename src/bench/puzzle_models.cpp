#include "bench/puzzle_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/subject.h"
#include "edelta/base/error.h"
#include "edelta/models/recursive.h"
#include "edelta/train/recursive_optimiser.h"

namespace edelta::bench {
namespace {

using models::Mixer;

constexpr std::array kModels{
    PuzzleModel{"trm", false, Mixer::none}, PuzzleModel{"trm-mlp", true, Mixer::none},
    PuzzleModel{"trm-jpmhc", false, Mixer::jpmhc}, PuzzleModel{"trm-edelta", false, Mixer::edelta}};

class PuzzleSubject : public Subject {
 public:
  PuzzleSubject(const models::RecursiveConfig& config, int64_t batch)
      : model_(config, /*seed=*/1), optimiser_(model_, protocol()), rows_(batch) {
    torch::manual_seed(1);
    batch_.inputs = torch::randint(config.vocab_size, {batch, config.seq_len}, torch::kInt64);
    batch_.labels = torch::randint_like(batch_.inputs, config.vocab_size);
    batch_.identifiers = torch::zeros({batch}, torch::kInt64);
  }

  void step(const std::function<void(train::StepPhase)>& after) override {
    model_.train();
    const models::PuzzleOutput output = model_.step(batch_, carry_);
    after(train::StepPhase::forward);
    (output.total() / rows_).backward();
    after(train::StepPhase::backward);
    optimiser_.step(output, carry_.at("puzzle_identifiers"));
    after(train::StepPhase::update);
  }

  // A step ends with that.
  void clear_gradients() override {}

  void infer() override {
    const torch::NoGradGuard no_grad;
    model_.eval();
    models::State carry;
    model_.step(batch_, carry);
  }

  int64_t tokens() const override { return rows_ * model_.config().positions(); }

  double gflop() const override { return model_.step_gflop(rows_); }

 private:
  static train::RecursiveProtocol protocol() {
    train::RecursiveProtocol protocol;
    protocol.ema_rate = 0.999;
    return protocol;
  }

  models::RecursiveModel model_;
  train::RecursiveOptimiser optimiser_;
  int64_t rows_;
  models::PuzzleBatch batch_;
  models::State carry_;
};

}  // namespace

std::span<const PuzzleModel> puzzle_models() { return kModels; }

bool is_puzzle_model(const std::string& name) {
  return std::ranges::any_of(kModels, [&](const PuzzleModel& model) { return name == model.name; });
}

models::RecursiveConfig puzzle_config(const std::string& name, int64_t positions, int64_t width) {
  const auto* found =
      std::ranges::find_if(kModels, [&](const PuzzleModel& model) { return name == model.name; });
  if (found == kModels.end()) throw InputError("there is no puzzle model '" + name + "'");
  constexpr int64_t kPositions = 97, kPuzzlePositions = 16;
  if (positions == 0) positions = kPositions;
  if (positions < 2) throw InputError("a puzzle model has two positions at least");
  models::RecursiveConfig config;
  config.hidden_size = width > 0 ? width : 128;
  config.num_heads = 4;
  config.puzzle_emb_ndim = config.hidden_size;
  config.puzzle_emb_len = std::min(kPuzzlePositions, positions / 2);
  config.seq_len = positions - config.puzzle_emb_len;
  config.H_cycles = 2;
  config.L_cycles = 2;
  config.mlp_t = found->mlp_t;
  if (config.mlp_t) config.pos_encodings = models::Positions::none;
  config.mixer_type = found->mixer;
  validate(config);
  return config;
}

std::unique_ptr<Subject> make_puzzle_subject(const models::RecursiveConfig& config, int64_t batch) {
  return std::make_unique<PuzzleSubject>(config, batch);
}

}  // namespace edelta::bench
