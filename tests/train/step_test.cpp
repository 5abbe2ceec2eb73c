#include "edelta/train/step.h"

#include <gtest/gtest.h>

#include "edelta/models/architecture_options.h"
#include "edelta/ops/implementation.h"

namespace edelta::train {
namespace {

using models::Batch;
using torch::Tensor;

models::ModelConfig small(const std::string& model) {
  models::ModelConfig config;
  config.model = model;
  config.n_layer = 1;
  config.n_embd = 16;
  config.n_head = 2;
  config.block_size = 8;
  config.input_dim = 3;
  return config;
}

// A model in float64 with its optimiser and two batches.
struct Subject {
  explicit Subject(const std::string& name, Protocol protocol = {})
      : model(models::make_model(small(name))) {
    model->to(torch::kFloat64);
    optimiser = std::make_unique<AdamW>(*model, protocol);
    torch::manual_seed(1);
    x = torch::randn({4, 5, 3}, torch::kFloat64);
    y = torch::randn({4, 5, 3}, torch::kFloat64);
  }
  Batch rows(int64_t first, int64_t count) const {
    return {x.narrow(0, first, count), y.narrow(0, first, count)};
  }
  Tensor gradient(const std::string& name) const { return model->named_parameters()[name].grad(); }

  std::shared_ptr<models::Model> model;
  std::unique_ptr<AdamW> optimiser;
  models::State state;
  Tensor x, y;
};

double difference(const Tensor& a, const Tensor& b) { return (a - b).abs().max().item<double>(); }

TEST(Step, PartsAreAveraged) {
  Subject one("edelta"), two("edelta");
  const auto whole = compute_gradients(*one.model, *one.optimiser, one.state,
                                       [&](int64_t) { return one.rows(0, 4); });
  const auto parts =
      compute_gradients(*two.model, *two.optimiser, two.state,
                        [&](int64_t part) { return two.rows(2 * part, 2); }, {.parts = 2});
  EXPECT_NEAR(whole.loss("task"), parts.loss("task"), 1e-14);
  EXPECT_NEAR(whole.loss("gate"), parts.loss("gate"), 1e-14);
  EXPECT_NEAR(whole.gradient_norm / parts.gradient_norm, 1, 1e-14);
  for (const auto& item : one.model->named_parameters()) {
    const double scale = item.value().grad().abs().max().item<double>();
    EXPECT_LE(difference(item.value().grad(), two.gradient(item.key())), 1e-12 * scale)
        << item.key();
  }
}

TEST(Step, MinimisesTheLossesThatAreAskedFor) {
  Subject all("edelta"), task("edelta");
  const auto batch = [&](int64_t) { return all.rows(0, 4); };
  const std::string bias = "transformer.h.0.geo_attn.gate_net.weight";
  models::HybridOptions defaults;
  ASSERT_GT(defaults.gate_reg_weight, 0);
  const auto with = compute_gradients(*all.model, *all.optimiser, all.state, batch);
  const auto without =
      compute_gradients(*task.model, *task.optimiser, task.state, batch,
                        {.minimises = [](const std::string& loss) { return loss == "task"; }});
  EXPECT_EQ(with.loss("gate"), without.loss("gate")) << "it is reported in either case";
  // At γ = ½ the regulariser has no slope; away from it, it has.
  const torch::NoGradGuard no_grad;
  for (Subject* subject : {&all, &task}) {
    subject->model->named_parameters()["transformer.h.0.geo_attn.gate_net.bias"].fill_(1);
  }
  {
    const torch::AutoGradMode grad(true);
    compute_gradients(*all.model, *all.optimiser, all.state, batch);
    compute_gradients(*task.model, *task.optimiser, task.state, batch,
                      {.minimises = [](const std::string& loss) { return loss == "task"; }});
  }
  EXPECT_GT(difference(all.gradient(bias), task.gradient(bias)), 1e-6);
}

TEST(Step, ReportsItsPhasesInOrder) {
  Subject subject("gpt");
  std::vector<StepPhase> phases;
  const StepOptions options{.parts = 2, .after = [&](StepPhase phase) { phases.push_back(phase); }};
  const auto outcome = compute_gradients(
      *subject.model, *subject.optimiser, subject.state,
      [&](int64_t part) { return subject.rows(2 * part, 2); }, options);
  update(*subject.optimiser, 1e-3, outcome, options);
  using enum StepPhase;
  EXPECT_EQ(phases, (std::vector{forward, backward, forward, backward, StepPhase::update}));
  EXPECT_EQ(outcome.loss("gate"), 0) << "gpt has no gate";
  EXPECT_EQ(subject.optimiser->steps(), 1);
}

TEST(Step, ClipsToTheGlobalNorm) {
  Protocol protocol;
  protocol.grad_clip = 1e-3;
  protocol.weight_decay = 0;
  Subject clipped("gpt", protocol), scaled("gpt", protocol);
  const auto batch = [&](int64_t) { return clipped.rows(0, 4); };
  const auto outcome = compute_gradients(*clipped.model, *clipped.optimiser, clipped.state, batch);
  ASSERT_GT(outcome.gradient_norm, 1e-2) << "nothing to clip";
  update(*clipped.optimiser, 1e-3, outcome);
  // The first moment is 0.1 · g: it shows the gradient that the update saw.
  double square = 0;
  for (const auto& [name, moment] : clipped.optimiser->state()) {
    if (name.starts_with("first/")) square += moment.square().sum().item<double>();
  }
  EXPECT_NEAR(std::sqrt(square), 0.1 * protocol.grad_clip, 1e-8);
}

// AdamW in float32, two steps from the same gradients, with the given implementation.
Tensor after_two_steps(ops::Implementation implementation) {
  const ops::Implementation before = ops::implementation();
  ops::set_implementation(implementation);
  auto model = models::make_model(small("gpt"));
  AdamW optimiser(*model, {});
  for (auto& parameter : model->parameters()) {
    parameter.mutable_grad() =
        torch::sin(torch::arange(parameter.numel(), torch::kFloat32)).view(parameter.sizes()) / 300;
  }
  for (int i = 0; i < 2; ++i) optimiser.step(1e-3, optimiser.gradient_norm());
  ops::set_implementation(before);
  std::vector<Tensor> all;
  for (const auto& parameter : model->parameters()) all.push_back(parameter.detach().flatten());
  return torch::cat(all);
}

TEST(Step, TheOptimiserObeysThePolicyForImplementations) {
  const Tensor fused = after_two_steps(ops::Implementation::fused);
  const Tensor composite = after_two_steps(ops::Implementation::composite);
  EXPECT_LT(difference(fused, composite), 1e-6);
  if (!ops::use_fused({})) GTEST_SKIP() << "there are no kernels here";
  EXPECT_FALSE(torch::equal(fused, composite)) << "both took the same path";
}

}  // namespace
}  // namespace edelta::train
