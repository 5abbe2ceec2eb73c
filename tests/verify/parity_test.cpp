#include "edelta/verify/parity.h"

#include <gtest/gtest.h>

#include "edelta/base/error.h"
#include "edelta/base/safetensors.h"
#include "edelta/models/model_file.h"
#include "golden.h"
#include "temporary_folder.h"

namespace edelta::verify {
namespace {

class GoldenTrace : public testing::TestWithParam<std::string> {};

TEST_P(GoldenTrace, AgreesInBothPrecisions) {
  const auto path = test::golden_file(GetParam() + ".safetensors");
  if (!path) GTEST_SKIP() << "no golden traces here";
  for (const torch::ScalarType dtype : {torch::kFloat64, torch::kFloat32}) {
    const ParityReport report = check_parity(*path, dtype);
    EXPECT_FALSE(report.comparisons.empty());
    for (const Comparison& comparison : report.comparisons) {
      EXPECT_LE(comparison.error, comparison.tolerance) << comparison.tensor << " " << dtype;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenTrace,
                         testing::Values("forward_gpt2", "forward_ddl", "forward_mhc",
                                         "forward_jpmhc", "forward_edelta", "forward_edelta_stream",
                                         "token_gpt2", "token_ddl", "token_mhc", "token_jpmhc",
                                         "token_edelta", "token_edelta_stream", "operators",
                                         "train_gpt2", "train_ddl", "train_mhc", "train_jpmhc",
                                         "train_edelta", "train_edelta_stream"),
                         [](const auto& info) { return info.param; });

INSTANTIATE_TEST_SUITE_P(
    Recursive, GoldenTrace,
    testing::Values("trm/trm_none", "trm/trm_jpmhc", "trm/trm_edelta", "trm/trm_jpmhc_2heads",
                    "trm/trm_edelta_2heads", "trm/trm_mlp_t", "trm/trm_learned_pos",
                    "trm/trm_no_puzzle_emb", "trm/trm_continue", "trm/trm_init_none",
                    "trm/trm_init_jpmhc", "trm/trm_init_edelta", "trm/trm_singlez", "trm/trm_hier6",
                    "trm/hrm", "trm/transformer_baseline", "trm/train_none", "trm/train_jpmhc",
                    "trm/train_edelta", "trm/train_edelta_published_init",
                    "trm/train_none_adamw_noclip"),
    [](const auto& info) { return info.param.substr(sizeof("trm/") - 1); });

// A trace that this library writes of its own model, so that the comparison itself is tested where
// the golden traces are not.
base::TensorFile own_trace() {
  models::ModelConfig config;
  config.n_layer = 1;
  config.n_embd = 16;
  config.n_head = 2;
  config.block_size = 6;
  config.input_dim = 3;
  auto model = models::make_model(config, 3);
  model->to(torch::kFloat64);
  torch::manual_seed(1);
  const auto x = torch::randn({2, 5, 3}, torch::kFloat64);
  const auto y = torch::randn({2, 5, 3}, torch::kFloat64);
  models::State state;
  const models::Output output = model->forward({x, y}, state);
  const auto loss = output.losses[0].value;
  const auto gate_loss = output.losses[1].value;
  (loss + gate_loss).backward();
  base::TensorFile trace;
  trace.metadata = {{"model", "edelta"}, {"n_layer", "1"},    {"n_embd", "16"},
                    {"n_head", "2"},     {"block_size", "6"}, {"input_dim", "3"}};
  trace.tensors = {{"x", x},
                   {"y", y},
                   {"output", output.prediction.detach()},
                   {"loss", loss.detach()},
                   {"gate_loss", gate_loss.detach()}};
  for (const auto& item : model->named_parameters()) {
    trace.tensors["param/" + item.key()] = item.value().detach();
    trace.tensors["grad/" + item.key()] = item.value().grad();
  }
  return trace;
}

TEST(Parity, HoldsForAnOwnTraceAndFailsForAChangedOne) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "trace.safetensors";
  base::TensorFile trace = own_trace();
  base::write_safetensors(path, trace.tensors, trace.metadata);
  EXPECT_TRUE(check_parity(path, torch::kFloat64).holds());
  EXPECT_FALSE(check_parity(path, torch::kFloat64, ParityTolerance{-1, -1}).holds());

  const std::string changed = "grad/transformer.h.0.geo_attn.u_net.0.weight";
  trace.tensors[changed] = trace.tensors[changed] * 1.001;
  base::write_safetensors(path, trace.tensors, trace.metadata);
  const ParityReport report = check_parity(path, torch::kFloat64);
  EXPECT_FALSE(report.holds());
  EXPECT_EQ(report.worst(true)->tensor, changed);
}

TEST(Parity, RefusesWhatIsNoTrace) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "trace.safetensors";
  base::write_safetensors(path, {{"weight", torch::zeros({2})}});
  EXPECT_THROW(check_parity(path, torch::kFloat64), InputError);
  base::TensorFile trace = own_trace();
  trace.metadata["n_layer"] = "two";
  base::write_safetensors(path, trace.tensors, trace.metadata);
  EXPECT_THROW(check_parity(path, torch::kFloat64), InputError);
  trace = own_trace();
  trace.tensors["y"] = torch::zeros({7, 7, 7});
  base::write_safetensors(path, trace.tensors, trace.metadata);
  EXPECT_THROW(check_parity(path, torch::kFloat64), InputError);
}

}  // namespace
}  // namespace edelta::verify
