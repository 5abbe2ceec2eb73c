#include "edelta/models/model.h"

#include <gtest/gtest.h>

#include "edelta/base/error.h"
#include "edelta/models/architecture_options.h"
#include "edelta/models/parameter_count.h"
#include "edelta/models/registry.h"
#include "kernels/cpu.h"
#include "kernels/profile.h"

namespace edelta::models {
namespace {

using torch::Tensor;

ModelConfig small(const std::string& model) {
  ModelConfig config;
  config.model = model;
  config.n_layer = 2;
  config.n_embd = 24;
  config.n_head = 2;
  config.n_streams = 3;
  config.block_size = 9;
  config.input_dim = 5;
  config.vocab_size = 11;
  return config;
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& architecture : architectures()) all.push_back(architecture.name);
  return all;
}

Tensor input_for(const ModelConfig& config, int64_t length) {
  torch::manual_seed(5);
  if (config.head == Head::token) return torch::randint(config.vocab_size, {2, length});
  return torch::randn({2, length, config.input_dim});
}

class EveryArchitecture : public testing::TestWithParam<std::string> {};

TEST_P(EveryArchitecture, TrainsWithBothHeadsBiasAndDropout) {
  for (const Head head : {Head::continuous, Head::token}) {
    for (const bool bias : {false, true}) {
      for (const double dropout : {0.0, 0.3}) {
        ModelConfig config = small(GetParam());
        config.head = head;
        config.bias = bias;
        config.dropout = dropout;
        auto model = make_model(config);
        const Tensor input = input_for(config, 7);
        State state;
        const Output output = model->forward({input, input}, state);
        Tensor loss = output.losses.front().value;
        for (size_t i = 1; i < output.losses.size(); ++i) loss = loss + output.losses[i].value;
        loss.backward();
        EXPECT_TRUE(state.empty());
        EXPECT_EQ(output.prediction.size(-1), head == Head::token ? 11 : 5);
        EXPECT_EQ(model->named_parameters().contains("transformer.h.0.attn.c_attn.bias"), bias);
        for (const auto& item : model->named_parameters()) {
          ASSERT_TRUE(item.value().grad().defined()) << item.key();
          EXPECT_TRUE(item.value().grad().isfinite().all().item<bool>()) << item.key();
        }
      }
    }
  }
}

TEST_P(EveryArchitecture, TheLossOfTokensDoesNotNeedThePrediction) {
  ModelConfig config = small(GetParam());
  config.head = Head::token;
  auto model = make_model(config);
  const Tensor input = input_for(config, 7);
  State state;
  const Output whole = model->forward({input, input}, state);
  const Output losses =
      model->forward({.input = input, .target = input, .wants_prediction = false}, state);
  EXPECT_FALSE(losses.prediction.defined());
  EXPECT_TRUE(torch::equal(losses.losses.front().value, whole.losses.front().value));
  const Tensor expected =
      torch::cross_entropy_loss(whole.prediction.flatten(0, 1), input.flatten());
  EXPECT_NEAR(losses.losses.front().value.item<double>(), expected.item<double>(), 1e-5);
}

TEST_P(EveryArchitecture, DropoutActsInTrainingOnly) {
  ModelConfig config = small(GetParam());
  config.dropout = 0.5;
  auto model = make_model(config);
  const Tensor input = input_for(config, 7);
  EXPECT_FALSE(torch::equal(model->predict(input), model->predict(input)));
  model->eval();
  EXPECT_TRUE(torch::equal(model->predict(input), model->predict(input)));
}

TEST_P(EveryArchitecture, DropoutIsAFunctionOfTheBatchsKey) {
  ModelConfig config = small(GetParam());
  config.dropout = 0.5;
  auto model = make_model(config);
  const Tensor input = input_for(config, 7);
  const auto predicted = [&](uint64_t key) {
    State state;
    return model->forward({.input = input, .dropout_key = key}, state).prediction;
  };
  EXPECT_TRUE(torch::equal(predicted(1), predicted(1)));
  EXPECT_FALSE(torch::equal(predicted(1), predicted(2)));
}

// Loss, gates and gradients of one pass.
struct Pass {
  Pass(const ModelConfig& config, torch::ScalarType dtype, bool recompute, bool frozen) {
    auto model = make_model(config);
    model->to(dtype);
    if (frozen) model->named_parameters()["transformer.h.0.ln_1.weight"].set_requires_grad(false);
    Tensor input = input_for(config, config.block_size);
    if (config.head == Head::continuous) input = input.to(dtype);
    State state;
    const Output output = model->forward(
        {.input = input, .target = input, .dropout_key = 3, .recompute = recompute}, state);
    Tensor total = output.losses.front().value;
    for (size_t i = 1; i < output.losses.size(); ++i) total = total + output.losses[i].value;
    total.backward();
    values.push_back(total.detach());
    for (const Tensor& gate : output.seen.gates) values.push_back(gate.detach());
    for (const Tensor& parameter : model->parameters()) values.push_back(parameter.grad());
  }

  std::vector<Tensor> values;  // undefined: no gradient
};

TEST_P(EveryArchitecture, ComputedAgainHasTheSameBits) {
  for (const Head head : {Head::continuous, Head::token}) {
    for (const torch::ScalarType dtype : {torch::kFloat32, torch::kFloat64}) {
      for (const int64_t length : {1, 9}) {
        for (const bool frozen : {false, true}) {
          ModelConfig config = small(GetParam());
          config.head = head;
          config.block_size = length;
          config.dropout = frozen ? 0.3 : 0;
          config.options.get<HybridOptions>().gate_gradient =
              frozen ? geometry::GateGradient::gate : geometry::GateGradient::all;
          const std::vector<Tensor> kept = Pass(config, dtype, false, frozen).values;
          const std::vector<Tensor> again = Pass(config, dtype, true, frozen).values;
          ASSERT_EQ(kept.size(), again.size());
          for (size_t i = 0; i < kept.size(); ++i) {
            ASSERT_EQ(kept[i].defined(), again[i].defined()) << i;
            if (kept[i].defined()) {
              EXPECT_TRUE(torch::equal(kept[i], again[i])) << i;
            }
          }
        }
      }
    }
  }
}

TEST(Recompute, TheBackwardPassComputesEveryBlockAgain) {
  if (kernels::isa() == kernels::Isa::none) GTEST_SKIP() << "no kernels here";
  const ModelConfig config = small("gpt");
  const auto calls = [&](bool recompute) -> int64_t {
    kernels::start_profile();
    const Pass pass(config, torch::kFloat32, recompute, /*frozen=*/false);
    for (const kernels::KernelTime& kernel : kernels::stop_profile()) {
      if (std::string(kernel.name) == "mlp_forward") return kernel.calls;
    }
    return 0;
  };
  EXPECT_EQ(calls(false), config.n_layer);
  EXPECT_EQ(calls(true), 2 * config.n_layer);
}

TEST_P(EveryArchitecture, SameSeedSameModel) {
  const ModelConfig config = small(GetParam());
  auto one = make_model(config, 1);
  auto same = make_model(config, 1);
  auto other = make_model(config, 2);
  const Tensor input = input_for(config, 7);
  EXPECT_TRUE(torch::equal(one->predict(input), same->predict(input)));
  EXPECT_FALSE(torch::equal(one->predict(input), other->predict(input)));
}

TEST_P(EveryArchitecture, PrefixAndTokenPoolingAreCausalBitForBit) {
  for (const ops::Pool pool : {ops::Pool::prefix, ops::Pool::token}) {
    for (const geometry::Blend blend :
         {geometry::Blend::linear, geometry::Blend::hard, geometry::Blend::geodesic}) {
      ModelConfig config = small(GetParam());
      config.options.get<PoolOptions>().pool = pool;
      config.options.get<HybridOptions>().blend = blend;
      auto model = make_model(config);
      model->eval();
      const torch::NoGradGuard no_grad;
      const Tensor input = input_for(config, 8);
      const Tensor before = model->predict(input);
      for (int64_t t = 0; t < 7; ++t) {
        Tensor changed = input.clone();
        changed.narrow(1, t + 1, 7 - t).add_(1);
        const Tensor after = model->predict(changed);
        EXPECT_TRUE(torch::equal(before.narrow(1, 0, t + 1), after.narrow(1, 0, t + 1)));
        EXPECT_FALSE(torch::equal(before.narrow(1, t + 1, 1), after.narrow(1, t + 1, 1)));
      }
    }
  }
}

TEST_P(EveryArchitecture, HandlesOnePositionOneStreamAndOneSequence) {
  ModelConfig config = small(GetParam());
  config.n_streams = 1;
  auto model = make_model(config);
  EXPECT_EQ(model->predict(torch::randn({1, 1, 5})).sizes(), (std::vector<int64_t>{1, 1, 5}));
}

TEST_P(EveryArchitecture, RefusesASequenceLongerThanItsBlock) {
  const ModelConfig config = small(GetParam());
  auto model = make_model(config);
  EXPECT_THROW(model->predict(input_for(config, 10)), InputError);
}

INSTANTIATE_TEST_SUITE_P(All, EveryArchitecture, testing::ValuesIn(names()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Model, SequencePoolingSeesTheFuture) {
  const ModelConfig config = small("edelta");
  auto model = make_model(config);
  const Tensor input = input_for(config, 8);
  Tensor changed = input.clone();
  changed.narrow(1, 7, 1).add_(1);
  EXPECT_FALSE(
      torch::equal(model->predict(input).narrow(1, 0, 7), model->predict(changed).narrow(1, 0, 7)));
}

TEST(Model, MatchedConfigurationsHaveThePapersCounts) {
  const std::map<std::string, int64_t> counts{{"gpt", 1'780'224},
                                              {"ddl", 1'783'568},
                                              {"mhc", 1'838'310},
                                              {"jpmhc", 1'770'912},
                                              {"edelta", 1'787'688}};
  for (const auto& [name, count] : counts) {
    EXPECT_EQ(count_parameters(counting_convention(matched_config(name))), count) << name;
  }
}

TEST(Model, BreakdownAddsUp) {
  const ModelConfig config = small("edelta");
  int64_t total = 0;
  for (const auto& group : parameter_breakdown(config)) total += group.count;
  EXPECT_EQ(total, count_parameters(config));
}

TEST(Model, MatchFindsTheClosestDepth) {
  const ModelConfig config = counting_convention(matched_config("gpt"));
  for (const int64_t depth : {1, 4, 9}) {
    ModelConfig wanted = config;
    wanted.n_layer = depth;
    EXPECT_EQ(match_depth(config, count_parameters(wanted) + 1000).n_layer, depth);
  }
}

TEST(Model, InitialisationFollowsTheSpecification) {
  ModelConfig config = small("edelta");
  config.n_embd = 96;
  config.options.get<HybridOptions>().init_gate_bias = -1.5;
  auto model = make_model(config);
  const auto parameters = model->named_parameters();
  const auto deviation = [&](const std::string& name) {
    return parameters[name].std().item<double>();
  };
  const std::string block = "transformer.h.0.";
  EXPECT_NEAR(deviation(block + "attn.c_attn.weight"), 0.02, 0.001);
  EXPECT_NEAR(deviation(block + "attn.c_proj.weight"), 0.02 / std::sqrt(4.0), 0.001);
  EXPECT_NEAR(deviation(block + "mlp.c_proj.weight"), 0.02 / std::sqrt(4.0), 0.001);
  EXPECT_NEAR(deviation(block + "h_pre_attn.weight"), 0.02, 0.001);
  EXPECT_NEAR(deviation(block + "geo_attn.u_net.0.weight"), 0.02, 0.002);
  EXPECT_NEAR(deviation("pos_emb"), 0.02, 0.002);
  EXPECT_EQ(parameters[block + "geo_attn.gate_net.weight"].abs().max().item<double>(), 0);
  EXPECT_EQ(parameters[block + "geo_attn.gate_net.bias"].item<double>(), -1.5);
  // A live rotation changes nothing else of the start.
  config.options.get<HybridOptions>().operator_init = geometry::OperatorInit::live;
  auto live = make_model(config);
  for (const auto& item : live->named_parameters()) {
    const bool turns = item.key().ends_with("u_net.2.bias") || item.key().ends_with("v_net.2.bias");
    if (turns) {
      EXPECT_NEAR(item.value().norm().item<double>(), 1, 1e-6) << item.key();
    } else {
      EXPECT_TRUE(torch::equal(item.value(), parameters[item.key()])) << item.key();
    }
  }
  config.options.get<ProjectionOptions>().projection_init = ProjectionInit::identity;
  auto identity = make_model(config);
  EXPECT_TRUE(
      torch::equal(identity->named_parameters()[block + "h_post_mlp.weight"], torch::eye(96)));
}

TEST(Model, VariantsHaveOnlyWhatTheirBranchNeeds) {
  ModelConfig config = small("edelta");
  const auto has = [&](const std::string& part) {
    for (const auto& item : make_model(config)->named_parameters()) {
      if (item.key().find(part) != std::string::npos) return true;
    }
    return false;
  };
  config.options.get<HybridOptions>().branch = geometry::Branch::cayley;
  EXPECT_TRUE(has("u_net"));
  EXPECT_FALSE(has("k_net"));
  EXPECT_FALSE(has("gate_net"));
  config.options.get<HybridOptions>().branch = geometry::Branch::householder;
  EXPECT_FALSE(has("u_net"));
  EXPECT_TRUE(has("k_net"));
  config.options.get<HybridOptions>().generator = geometry::GeneratorKind::fixed;
  EXPECT_FALSE(has("k_net"));
  EXPECT_TRUE(has("geo_attn.geometry"));
}

TEST(Model, WithoutAnOperatorEdeltaIsGptWithProjections) {
  for (const Projections projections :
       {Projections::on, Projections::off, Projections::attention, Projections::attention_pre,
        Projections::attention_post, Projections::mlp, Projections::mlp_pre,
        Projections::mlp_post}) {
    ModelConfig gpt = small("gpt"), edelta = small("edelta");
    for (ModelConfig* config : {&gpt, &edelta}) {
      config->options.get<ProjectionMapOptions>().projections = projections;
    }
    edelta.options.get<HybridOptions>().branch = geometry::Branch::none;
    const auto a = make_model(gpt, 3), b = make_model(edelta, 3);
    const bool pair = projections == Projections::attention || projections == Projections::mlp;
    const int64_t maps = projections == Projections::on    ? 4
                         : projections == Projections::off ? 0
                         : pair                            ? 2
                                                           : 1;
    EXPECT_EQ(a->parameter_count() - make_model(small("gpt"))->parameter_count(),
              maps * gpt.n_layer * gpt.n_embd * gpt.n_embd);
    const Tensor input = input_for(gpt, 7);
    State state;
    const Output of_gpt = a->forward({input, input}, state);
    const Output of_edelta = b->forward({input, input}, state);
    EXPECT_TRUE(torch::equal(of_gpt.prediction, of_edelta.prediction));
    EXPECT_EQ(of_edelta.losses.size(), 1);
    of_gpt.losses.front().value.backward();
    of_edelta.losses.front().value.backward();
    for (const auto& item : a->named_parameters()) {
      const Tensor other = b->named_parameters()[item.key()];
      EXPECT_TRUE(torch::equal(item.value().grad(), other.grad())) << item.key();
    }
  }
  ModelConfig usual = small("edelta"), on = small("edelta");
  on.options.get<ProjectionMapOptions>().projections = Projections::on;
  EXPECT_EQ(count_parameters(usual), count_parameters(on));
}

TEST(Model, FactorsOfProjectionsMultiply) {
  ModelConfig config = small("gpt");
  config.options.get<ProjectionMapOptions>() = {.projections = Projections::mlp_pre,
                                                .projection_factors = 3};
  const auto three = make_model(config, 3);
  config.options.get<ProjectionMapOptions>().projection_factors = 1;
  const auto one = make_model(config, 3);
  const torch::NoGradGuard no_grad;
  auto of_three = three->named_parameters(), of_one = one->named_parameters();
  for (auto& item : of_one) {
    if (of_three.contains(item.key())) item.value().copy_(of_three[item.key()]);
  }
  for (const std::string layer : {"transformer.h.0.", "transformer.h.1."}) {
    of_one[layer + "h_pre_mlp.weight"].copy_(of_three[layer + "h_pre3_mlp.weight"]
                                                 .matmul(of_three[layer + "h_pre2_mlp.weight"])
                                                 .matmul(of_three[layer + "h_pre_mlp.weight"]));
  }
  const Tensor input = input_for(config, 7);
  EXPECT_LT((three->predict(input) - one->predict(input)).abs().max().item<double>(), 1e-6);
}

TEST(Model, ParametersComeFromTheSeedAlone) {
  for (const std::string name : {"edelta", "edelta-stream"}) {
    ModelConfig config = small(name);
    config.options.get<HybridOptions>().generator = geometry::GeneratorKind::fixed;
    torch::manual_seed(1);
    const auto a = make_model(config, 7);
    torch::manual_seed(2);
    const auto b = make_model(config, 7), c = make_model(config, 8);
    const std::string row = "transformer.h.0.geo_attn.geometry";
    EXPECT_TRUE(torch::equal(a->named_parameters()[row], b->named_parameters()[row]));
    EXPECT_FALSE(torch::equal(a->named_parameters()[row], c->named_parameters()[row]));
  }
}

TEST(Model, InitStdScalesTheWeights) {
  ModelConfig config = small("gpt");
  const auto usual = make_model(config);
  config.init_std = 0.005;
  const auto smaller = make_model(config);
  for (const std::string name :
       {"transformer.h.1.mlp.c_fc.weight", "pos_emb", "transformer.h.0.attn.c_proj.weight"}) {
    const Tensor ratio = smaller->named_parameters()[name] / usual->named_parameters()[name];
    EXPECT_LT((ratio - 0.25).abs().max().item<double>(), 1e-5) << name;
  }
}

TEST(Model, AnOperatorThatLooksAtNothingIsCausal) {
  for (const std::string name : {"edelta", "edelta-stream"}) {
    ModelConfig config = small(name);
    const Architecture& architecture = find_architecture(name);
    EXPECT_FALSE(architecture.causal(config));
    config.options.get<HybridOptions>().generator = geometry::GeneratorKind::fixed;
    EXPECT_TRUE(architecture.causal(config));
    config.options.get<HybridOptions>() = {.branch = geometry::Branch::none};
    EXPECT_TRUE(architecture.causal(config));
  }
}

void expect_orthogonal_residuals(const std::string& model_name, geometry::Blend blend,
                                 geometry::ScalarField field) {
  ModelConfig config = small(model_name);
  config.n_streams = 4;
  config.options.get<HybridOptions>().blend = blend;
  config.options.get<HybridOptions>().field = field;
  auto model = make_model(config);
  State state;
  const Seen seen = model->forward({input_for(config, 7)}, state, {.record_operators = true}).seen;
  ASSERT_EQ(seen.operators.size(), 4);
  for (const Tensor& g : seen.operators) {
    const Tensor error = g.transpose(-2, -1).matmul(g) - torch::eye(4);
    EXPECT_LT(error.abs().max().item<double>(), 2e-6);
  }
}

TEST(Model, ResidualOperatorsAreOrthogonalWithEveryBlendButTheLinear) {
  using geometry::Blend, geometry::ScalarField;
  for (const std::string name : {"edelta", "edelta-stream"}) {
    expect_orthogonal_residuals(name, Blend::hard, ScalarField::real);
    expect_orthogonal_residuals(name, Blend::geodesic, ScalarField::real);
    expect_orthogonal_residuals(name, Blend::geodesic, ScalarField::complex);
  }
}

// The example of CONTRIBUTING.md: a new architecture is a connection and a registry entry.
class ScaledResidual : public Connection {
 public:
  Tensor forward(const Tensor& x, const PreNormSubLayer& f, Seen&) override {
    return 0.5 * x + f(x);
  }
};

TEST(Registry, AToyArchitectureTakesOneConnectionAndOneLine) {
  register_architecture(
      {.name = "toy",
       .summary = "x/2 + F(LN x)",
       .make_connection = [](const ModelConfig&,
                             Site&) { return std::make_unique<ScaledResidual>(); },
       .matched_layers = 1});
  auto model = make_model(small("toy"));
  const Tensor input = input_for(model->config(), 7);
  State state;
  model->forward({input, input}, state).losses.front().value.backward();
  EXPECT_TRUE(model->parameters().front().grad().defined());
  EXPECT_THROW(register_architecture({.name = "toy", .summary = "", .make_connection = {}}),
               InputError);
}

TEST(Registry, UnknownNamesListTheKnownOnes) {
  try {
    find_architecture("gtp");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("gpt, ddl, mhc, jpmhc"), std::string::npos);
  }
}

}  // namespace
}  // namespace edelta::models
