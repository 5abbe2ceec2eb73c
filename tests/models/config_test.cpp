#include "edelta/models/config.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "edelta/base/error.h"
#include "edelta/models/architecture_options.h"
#include "expect_error.h"

namespace edelta::models {
namespace {

TEST(ModelConfig, RoundTripsThroughJson) {
  ModelConfig config;
  config.model = "jpmhc";
  config.head = Head::token;
  config.n_layer = 3;
  config.bias = true;
  config.dropout = 0.25;
  config.options.get<HybridOptions>().branch = geometry::Branch::cayley;
  config.options.get<HybridOptions>().generator = geometry::GeneratorKind::fixed;
  config.options.get<PoolOptions>().pool = ops::Pool::prefix;
  config.options.get<HybridOptions>().blend = geometry::Blend::hard;
  config.options.get<ProjectionOptions>().projection_init = ProjectionInit::identity;
  config.options.get<HybridOptions>().gate_regulariser = geometry::GateRegulariser::squared_product;
  const auto json = to_json(config);
  EXPECT_EQ(to_json(model_config_from_json(json, "test")), json);
  EXPECT_NE(json, to_json(ModelConfig()));
}

// What follows the blend is completed where a configuration does not name it, and nowhere else.
TEST(ModelConfig, DefaultsFollowTheBlend) {
  const auto hybrid = [](const nlohmann::json& json) {
    return model_config_from_json(json, "test").options.get<HybridOptions>();
  };
  const HybridOptions linear = hybrid({{"blend", "hard"}});
  EXPECT_EQ(linear.gate_reg_weight, 0.1);
  EXPECT_EQ(linear.init_gate_bias, 0);
  for (const nlohmann::json& json :
       {nlohmann::json{{"blend", "geodesic"}}, nlohmann::json{{"field", "complex"}}}) {
    const HybridOptions completed = hybrid(json);
    EXPECT_EQ(completed.blend, geometry::Blend::geodesic);
    EXPECT_EQ(completed.gate_reg_weight, 0);
    EXPECT_EQ(completed.init_gate_bias, 4);
  }
  const HybridOptions given = hybrid(
      {{"blend", "geodesic"}, {"gate_reg_weight", 0.5}, {"init_gate_bias", -1}, {"n_streams", 2}});
  EXPECT_EQ(given.gate_reg_weight, 0.5);
  EXPECT_EQ(given.init_gate_bias, -1);
  EXPECT_EQ(given.field, geometry::ScalarField::real);
}

TEST(ModelConfig, AWrittenConfigurationIsReadAsItWas) {
  ModelConfig config;  // the plain defaults, which reading alone would complete otherwise
  config.options.get<HybridOptions>().blend = geometry::Blend::geodesic;
  config.options.get<HybridOptions>().field = geometry::ScalarField::complex;
  const auto json = to_json(config);
  EXPECT_EQ(to_json(model_config_from_json(json, "test")), json);
}

TEST(ModelConfig, OneStreamIsEnoughForABranchAlone) {
  EXPECT_NO_THROW(model_config_from_json(
      {{"blend", "geodesic"}, {"branch", "cayley"}, {"n_streams", 1}}, "test"));
}

TEST(ModelConfig, TakesTextForNumbersAndBooleans) {
  const auto config =
      model_config_from_json({{"n_layer", "3"}, {"bias", "true"}, {"dropout", "0.5"}}, "test");
  EXPECT_EQ(config.n_layer, 3);
  EXPECT_TRUE(config.bias);
  EXPECT_EQ(config.dropout, 0.5);
}

struct BadConfig {
  nlohmann::json json;
  const char* named;  // what the message must name
};

class BadConfigTest : public testing::TestWithParam<BadConfig> {};

TEST_P(BadConfigTest, IsRefusedByName) {
  try {
    model_config_from_json(GetParam().json, "file.json");
    FAIL() << GetParam().json;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam().named), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("file.json"), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadConfigTest,
    testing::Values(
        BadConfig{{{"n_layers", 3}}, "n_layers"}, BadConfig{{{"n_layer", 0}}, "n_layer"},
        BadConfig{{{"n_layer", 2.5}}, "n_layer"}, BadConfig{{{"n_layer", "many"}}, "n_layer"},
        BadConfig{{{"n_embd", 130}, {"n_head", 1}}, "n_streams"},
        BadConfig{{{"n_head", 3}}, "n_head"}, BadConfig{{{"n_streams", 0}}, "n_streams"},
        BadConfig{{{"n_streams", 1e300}}, "n_streams"}, BadConfig{{{"dropout", 1}}, "dropout"},
        BadConfig{{{"bias", 3}}, "bias"}, BadConfig{{{"pool", "future"}}, "prefix"},
        BadConfig{{{"pool", 3}}, "pool"}, BadConfig{{{"model", "lstm"}}, "edelta-stream"},
        BadConfig{{{"geo_hidden_ratio", 1000}}, "geo_hidden_ratio"},
        BadConfig{{{"gate_reg_weight", -1}}, "gate_reg_weight"},
        BadConfig{{{"field", "complex"}, {"blend", "linear"}}, "blend is linear"},
        BadConfig{{{"field", "complex"}, {"blend", "hard"}}, "must be geodesic"},
        BadConfig{{{"field", "complex"}, {"n_streams", 1}}, "streams (n_streams) is 1"},
        BadConfig{{{"blend", "geodesic"}, {"n_streams", 1}}, "streams (n_streams) is 1"},
        BadConfig{{{"field", "quaternions"}}, "real, complex"},
        BadConfig{nlohmann::json::array(), "object"}));

}  // namespace
}  // namespace edelta::models
