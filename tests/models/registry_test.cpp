#include "edelta/models/registry.h"

#include <gtest/gtest.h>

#include "edelta/base/error.h"
#include "edelta/models/architecture_options.h"

namespace edelta::models {
namespace {

using torch::Tensor;

ModelConfig small_of(const std::string& model) {
  ModelConfig config = matched_config(model);
  config.n_layer = 1;
  config.n_embd = 24;
  config.n_head = 2;
  config.n_streams = 3;
  config.block_size = 9;
  config.input_dim = 5;
  return config;
}

class RegistryFacts : public testing::TestWithParam<std::string> {};

// What the registry says of causality is what the model does.
TEST_P(RegistryFacts, CausalityIsAsStated) {
  for (const ops::Pool pool : {ops::Pool::sequence, ops::Pool::prefix, ops::Pool::token}) {
    ModelConfig config = small_of(GetParam());
    config.options.get<PoolOptions>().pool = pool;
    auto model = make_model(config);
    model->eval();
    const torch::NoGradGuard no_grad;
    torch::manual_seed(5);
    const Tensor input = torch::randn({2, 8, 5});
    Tensor changed = input.clone();
    changed.narrow(1, 7, 1).add_(1);
    const bool same = torch::equal(model->predict(input).narrow(1, 0, 7),
                                   model->predict(changed).narrow(1, 0, 7));
    EXPECT_EQ(same, find_architecture(GetParam()).causal(config));
  }
}

TEST_P(RegistryFacts, StreamsMatterWhereItSaysSo) {
  ModelConfig config = small_of(GetParam());
  const int64_t three = make_model(config)->parameter_count();
  config.n_streams = 2;
  EXPECT_EQ(make_model(config)->parameter_count() != three, find_architecture(GetParam()).streams);
}

TEST_P(RegistryFacts, EveryLookIsItsOwn) {
  const Look& look = find_architecture(GetParam()).look;
  EXPECT_FALSE(look.colour.empty());
  for (const Architecture& other : architectures()) {
    if (other.name != GetParam()) {
      EXPECT_NE(other.look.colour, look.colour) << other.name;
      EXPECT_NE(other.look.mark, look.mark) << other.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RegistryFacts,
                         testing::Values("gpt", "ddl", "mhc", "jpmhc", "edelta", "edelta-stream"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// GFLOP of a step at the matched sizes on gyroscope: batch 64 of 255 positions, as docs/speed.md
// has them.
TEST(Registry, CostsOfAStep) {
  const std::map<std::string, double> known{{"gpt", 207.2269},    {"ddl", 184.3220},
                                            {"mhc", 212.6415},    {"jpmhc", 196.1596},
                                            {"edelta", 138.3630}, {"edelta-stream", 184.9746}};
  for (const auto& [name, gflop] : known) {
    EXPECT_NEAR(make_model(matched_config(name))->step_gflop(64, 255), gflop, 1e-3) << name;
  }
}

TEST(Registry, PublishedNamesLeadToTheArchitecture) {
  EXPECT_EQ(find_published("gpt2")->name, "gpt");
  EXPECT_EQ(find_published("edelta_stream")->name, "edelta-stream");
  EXPECT_EQ(find_published("mhc")->name, "mhc");
  EXPECT_EQ(find_published("lstm"), nullptr);
}

struct ToyOptions {
  double scale = 0.5;
  template <class Self, class Visit>
  static void visit_fields(Self& self, Visit visit) {
    visit(Field{"toy_scale", "Factor on x"}, self.scale);
  }
};
void validate(const ToyOptions& options, const ModelConfig&) {
  if (options.scale <= 0) throw InputError("toy_scale must be positive");
}

class ScaledResidual : public Connection {
 public:
  explicit ScaledResidual(double scale) : scale_(scale) {}
  Tensor forward(const Tensor& x, const PreNormSubLayer& f, Seen&) override {
    return scale_ * x + f(x);
  }

 private:
  double scale_;
};

// An architecture of a program's own, with an option of its own, is one entry.
TEST(Registry, OptionsBelongToTheArchitecture) {
  EXPECT_THROW(model_config_from_json({{"toy_scale", 2}}, "test"), InputError);
  register_architecture({.name = "toy-with-option",
                         .summary = "s x + F(LN x)",
                         .make_connection =
                             [](const ModelConfig& config, Site&) {
                               return std::make_unique<ScaledResidual>(
                                   config.options.get<ToyOptions>().scale);
                             },
                         .matched_layers = 1,
                         .options = {option_group<ToyOptions>()}});
  const auto with = [](double scale) {
    nlohmann::json json = to_json(small_of("gpt"));
    json["model"] = "toy-with-option";
    json["toy_scale"] = scale;
    return model_config_from_json(json, "test");
  };
  EXPECT_EQ(to_json(with(2))["toy_scale"], 2);
  EXPECT_THROW(with(-1), InputError);
  const Tensor x = torch::randn({1, 4, 5});
  EXPECT_FALSE(torch::equal(make_model(with(1))->predict(x), make_model(with(2))->predict(x)));
  const auto fields = model_fields();
  EXPECT_TRUE(std::any_of(fields.begin(), fields.end(), [](const Field& field) {
    return std::string(field.key) == "toy_scale";
  }));
}

}  // namespace
}  // namespace edelta::models
