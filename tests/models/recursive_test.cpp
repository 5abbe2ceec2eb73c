#include "edelta/models/recursive.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>

#include "edelta/base/error.h"
#include "edelta/base/safetensors.h"
#include "expect_error.h"
#include "golden.h"
#include "models/recursive/mixers.h"
#include "tensor_checks.h"

namespace edelta::models {
namespace {

using nlohmann::json;
using test::expect_error;
using torch::Tensor;

RecursiveConfig small_config(const json& options = json::object()) {
  json all{{"seq_len", 6},          {"vocab_size", 5},     {"num_puzzle_identifiers", 4},
           {"hidden_size", 16},     {"num_heads", 2},      {"H_cycles", 2},
           {"L_cycles", 2},         {"L_layers", 1},       {"H_layers", 1},
           {"puzzle_emb_ndim", 16}, {"puzzle_emb_len", 1}, {"halt_max_steps", 3}};
  all.update(options);
  return recursive_config_from_json(all, "test");
}

PuzzleBatch small_batch(uint64_t seed, int64_t rows = 3) {
  torch::manual_seed(seed);
  return {torch::randint(5, {rows, 6}), torch::randint(5, {rows, 6}), torch::randint(4, {rows})};
}

TEST(Recursive, HasThePublishedNumbersOfParameters) {
  const std::vector<std::pair<json, int64_t>> published{
      {{{"vocab_size", 12}}, 6'829'058},
      {{{"vocab_size", 11}, {"mlp_t", true}, {"pos_encodings", "none"}}, 5'028'866},
      {{{"vocab_size", 12}, {"mixer_type", "jpmhc"}}, 636'098},
      {{{"vocab_size", 12}, {"mixer_type", "edelta"}}, 804'074},
      {{{"vocab_size", 12}, {"kind", "hrm"}, {"H_layers", 4}, {"L_layers", 4}}, 27'276'290},
      {{{"vocab_size", 12}, {"kind", "transformer"}, {"H_layers", 8}, {"num_heads", 12}},
       27'145'218}};
  for (const auto& [options, count] : published) {
    const RecursiveModel model(recursive_config_from_json(options, "test"), 1);
    int64_t found = 0;
    for (const Tensor& parameter : model.parameters()) found += parameter.numel();
    EXPECT_EQ(found, count) << options;
  }
}

TEST(Recursive, RoundsInnerWidthsAsPublished) {
  RecursiveConfig config;
  EXPECT_EQ(config.inner_width(512), 1536);
  EXPECT_EQ(config.inner_width(128), 512);
  EXPECT_EQ(config.inner_width(96), 256);
  EXPECT_EQ(config.inner_width(97), 512);
  config.width_multiple = 8;
  EXPECT_EQ(config.inner_width(64), 176);
  const auto path = test::golden_file("trm/ops.safetensors");
  if (!path) return;
  const Tensor table = base::read_safetensors(*path).tensor("swiglu/inter_for");
  for (int64_t i = 0; i < table.size(0); ++i) {
    config = {};
    config.expansion = table[i][1].item<double>();
    EXPECT_EQ(config.inner_width(table[i][0].item<int64_t>()), table[i][2].item<int64_t>());
  }
}

// The rows of a layer that an initialisation leaves without any gradient, for ever.
int64_t dead_rows(const char* init) {
  RecursiveModel model(small_config({{"mixer_type", "edelta"}, {"mixer_init", init}}), 3);
  State carry;
  model.train();
  model.step(small_batch(5), carry).total().backward();
  const Tensor gradient =
      model.named_parameters()["L_level.layers.0.attn_mixer.geo_proj.2.bias"].grad();
  return (gradient == 0).sum().item<int64_t>();
}

TEST(Recursive, EveryRowOfALiveMixerGetsAGradient) {
  EXPECT_EQ(dead_rows("live"), 0);
  // u and v of four streams, and β.
  EXPECT_EQ(dead_rows("published"), 9);
}

// Without its operator a mixer is what the operator does at the identity: γ = 1 and u = v = 0.
TEST(Recursive, WithoutItsOperatorAMixerOnlyRoutes) {
  const RecursiveConfig with =
      small_config({{"mixer_type", "edelta"}, {"mixer_init", "published"}});
  RecursiveConfig without = with;
  without.mixer_operator = false;
  RecursiveModel hybrid(with, 3), control(without, 3);
  const torch::NoGradGuard no_grad;
  hybrid.to(torch::kFloat64);
  control.to(torch::kFloat64);
  auto parameters = hybrid.named_parameters();
  for (auto& item : control.named_parameters()) {
    EXPECT_EQ(item.key().find("geo_proj"), std::string::npos) << item.key();
    item.value().copy_(torch::randn_like(item.value()) / 4);
    parameters[item.key()].copy_(item.value());
  }
  for (auto& item : hybrid.named_buffers()) control.named_buffers()[item.key()].copy_(item.value());
  for (auto& item : parameters) {
    if (item.key().ends_with("geo_proj.2.bias")) item.value()[-1] = 1e3;  // γ = 1
  }
  State one, other;
  const PuzzleOutput a = hybrid.step(small_batch(5), one), b = control.step(small_batch(5), other);
  EXPECT_TRUE(torch::allclose(a.logits, b.logits, 1e-12, 1e-12));
  EXPECT_TRUE(b.gates.empty());
  EXPECT_EQ(b.gate_loss.item<double>(), 0);
}

TEST(Recursive, WidthsMatchANumberOfParameters) {
  const int64_t wanted = count_parameters(small_config());
  const RecursiveConfig config = small_config({{"mixer_type", "jpmhc"}});
  const RecursiveConfig matched = matched_to(config, wanted);
  EXPECT_EQ(matched.puzzle_emb_ndim, matched.hidden_size);
  const auto distance = [&](int64_t more) {
    RecursiveConfig other = matched;
    other.hidden_size += more;
    other.puzzle_emb_ndim += more;
    return std::llabs(count_parameters(other) - wanted);
  };
  const int64_t unit = std::lcm(config.n_streams, 2 * config.num_heads);
  EXPECT_LE(distance(0), distance(unit));
  EXPECT_LE(distance(0), distance(-unit));
}

// Of linear maps: 2 a weight and position forward, 4 more on the way back.
TEST(Recursive, AStepCostsWhatItsCallsCost) {
  const auto gflop = [](const json& options) {
    return RecursiveModel(small_config(options), 1).step_gflop(1);
  };
  const json plain{{"mlp_t", true}, {"H_cycles", 1}, {"L_cycles", 1}};
  const RecursiveConfig config = small_config(plain);
  const auto n = [](int64_t value) { return static_cast<double>(value); };
  const double positions = n(config.positions()), width = n(config.hidden_size);
  const double mlp = 3 * width * n(config.inner_width(config.hidden_size)) * positions;
  const double mlp_t = 3 * positions * n(config.inner_width(config.positions())) * width;
  const double head = width * n(config.vocab_size) * positions;
  const double layers = n(config.L_layers);
  EXPECT_NEAR(gflop(plain), 1e-9 * 6 * (2 * layers * (mlp + mlp_t) + head), 1e-15);
  json twice = plain;
  twice["H_cycles"] = 2;  // the first without gradient
  EXPECT_NEAR(gflop(twice) - gflop(plain), 1e-9 * 2 * 2 * layers * (mlp + mlp_t), 1e-15);
}

TEST(Recursive, RowsThatHaltedTakeNewPuzzlesAndOthersStay) {
  RecursiveModel model(small_config(), 1);
  model.train();
  {
    // Certain of halting nowhere: every row takes all steps.
    const torch::NoGradGuard no_grad;
    model.named_parameters()["q_head.bias"].fill_(-100);
  }
  State carry;
  const PuzzleBatch first = small_batch(1), second = small_batch(2);
  model.step(first, carry);
  EXPECT_TRUE(torch::equal(carry.at("inputs"), first.inputs));
  EXPECT_FALSE(carry.at("halted").any().item<bool>());
  model.step(second, carry);
  EXPECT_TRUE(torch::equal(carry.at("inputs"), first.inputs));
  model.step(second, carry);
  EXPECT_TRUE(carry.at("halted").all().item<bool>());
  model.step(second, carry);
  EXPECT_TRUE(torch::equal(carry.at("inputs"), second.inputs));
  EXPECT_EQ(carry.at("steps").max().item<int64_t>(), 1);
}

// Training halts where the model believes its answer, unless exploration insists on more.
TEST(Recursive, ExplorationKeepsRowsThatWouldHalt) {
  RecursiveModel model(small_config(), 1);
  model.train();
  {
    const torch::NoGradGuard no_grad;
    model.named_parameters()["q_head.bias"].fill_(100);
  }
  State carry;
  const Exploration exploration{torch::tensor({0.05, 0.5, 0.05}), torch::tensor({2, 2, 3})};
  model.step(small_batch(1), carry, exploration);
  EXPECT_TRUE(torch::equal(carry.at("halted"), torch::tensor({false, true, false})));
  State evaluated;
  model.eval();
  model.step(small_batch(1), evaluated);
  EXPECT_FALSE(evaluated.at("halted").any().item<bool>());
}

TEST(Recursive, RowsDoNotDependOnEachOther) {
  for (const char* kind : {"trm", "hrm", "trm-single", "trm-hier6", "transformer"}) {
    RecursiveModel model(small_config({{"kind", kind}}), 1);
    model.to(torch::kFloat64);
    model.eval();
    const PuzzleBatch batch = small_batch(4);
    State together, alone;
    const Tensor logits = model.step(batch, together).logits;
    const Tensor row = model
                           .step({batch.inputs.narrow(0, 1, 1), batch.labels.narrow(0, 1, 1),
                                  batch.identifiers.narrow(0, 1, 1)},
                                 alone)
                           .logits;
    EXPECT_LT(test::relative_difference(row[0], logits[1]), 1e-12) << kind;
  }
}

TEST(Recursive, MixersAgreeWithTheGoldenTraces) {
  const auto path = test::golden_file("trm/ops.safetensors");
  if (!path) GTEST_SKIP() << "no golden traces here";
  const base::TensorFile trace = base::read_safetensors(*path);
  for (const char* type : {"jpmhc", "edelta"}) {
    for (const auto& [width, streams] : {std::pair{8, 4}, {12, 3}, {6, 2}}) {
      const std::string prefix = fmt::format("mixer/{}_D{}_n{}/", type, width, streams);
      SCOPED_TRACE(prefix);
      const auto mixer = make_mixer(recursive_config_from_json({{"hidden_size", width},
                                                                {"num_heads", 1},
                                                                {"puzzle_emb_ndim", width},
                                                                {"mixer_type", type},
                                                                {"n_streams", streams},
                                                                {"geo_hidden_dim", 12}},
                                                               "test"));
      mixer->to(torch::kFloat64);
      const auto at = [&](const std::string& name) {
        return trace.tensor(prefix + name).to(torch::kFloat64).clone();
      };
      {
        const torch::NoGradGuard no_grad;
        for (auto& item : mixer->named_parameters()) item.value().copy_(at("param/" + item.key()));
      }
      const Tensor x = at("x").requires_grad_(), wf = at("wf").requires_grad_();
      const Mixed mixed =
          mixer->forward(x.flatten(-2), [&](const Tensor& a) { return a.matmul(wf.t()); });
      EXPECT_LT(test::relative_difference(mixed.y.view_as(x), at("y")), 1e-12);
      Tensor loss = (mixed.y.view_as(x) * at("w")).sum();
      if (mixed.gamma.defined()) loss = loss + 0.1 * (4 * mixed.gamma * (1 - mixed.gamma)).mean();
      EXPECT_LT(test::relative_difference(loss, at("loss")), 1e-12);
      loss.backward();
      EXPECT_LT(test::relative_difference(x.grad(), at("grad_x")), 1e-11);
      EXPECT_LT(test::relative_difference(wf.grad(), at("grad_wf")), 1e-11);
      for (const auto& item : mixer->named_parameters()) {
        EXPECT_LT(test::relative_difference(item.value().grad(), at("grad/" + item.key())), 1e-11)
            << item.key();
      }
    }
  }
}

TEST(Recursive, RefusesWhatCannotBe) {
  const auto refused = [](const json& options, const char* reason) {
    expect_error<InputError>([&] { small_config(options); }, "test", reason);
  };
  refused({{"hidden_sise", 3}}, "hidden_sise");
  refused({{"num_heads", 16}}, "must be even");
  refused({{"mixer_type", "edelta"}, {"n_streams", 3}}, "must divide width (hidden_size)");
  refused({{"mixer_type", "edelta"}, {"mlp_t", true}}, "mlp_t");
  refused({{"mixer_type", "jpmhc"}, {"kind", "hrm"}}, "is for model trm");
  refused({{"puzzle_emb_ndim", 0}}, "must be 0 where");
  refused({{"puzzle_emb_ndim", 17}}, "room for 16");
  refused({{"kind", "trm-hier6"}, {"L_cycles", 7}}, "from 1 to 6");
  refused({{"mixer_type", "mhc"}}, "none, jpmhc, edelta");
  refused({{"mixer_type", "jpmhc"}, {"mixer_operator", false}}, "mixer_operator");
}

}  // namespace
}  // namespace edelta::models
