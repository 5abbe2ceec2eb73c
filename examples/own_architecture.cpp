// An architecture of one's own, with an option of its own, registered at run time: it then trains,
// counts and loads like the built-in ones.
#include <edelta/models/registry.h>

#include <iostream>

using namespace edelta::models;

namespace {

struct DampedOptions {
  double damping = 0.5;

  template <class Self, class Visit>
  static void visit_fields(Self& self, Visit visit) {
    visit(edelta::Field{"damping", "Factor on the residual"}, self.damping);
  }
};

// damping · x + F(LN x)
class DampedResidual : public Connection {
 public:
  explicit DampedResidual(double damping) : damping_(damping) {}
  torch::Tensor forward(const torch::Tensor& x, const PreNormSubLayer& f, Seen&) override {
    return f(x, {.residual = damping_ * x});
  }

 private:
  double damping_;
};

}  // namespace

int main() {
  register_architecture({.name = "damped",
                         .summary = "damping · x + F(LN x)",
                         .make_connection =
                             [](const ModelConfig& config, Site&) {
                               return std::make_unique<DampedResidual>(
                                   config.options.get<DampedOptions>().damping);
                             },
                         .matched_layers = 9,
                         .options = {option_group<DampedOptions>()}});

  const ModelConfig config = model_config_from_json(
      {{"model", "damped"}, {"n_layer", 2}, {"n_embd", 32}, {"input_dim", 3}, {"damping", 0.9}},
      "example");
  const auto model = make_model(config);
  const auto x = torch::randn({2, 10, 3});
  State state;
  const Output output = model->forward({x, x}, state);
  output.losses.front().value.backward();
  std::cout << model->parameter_count() << " parameters, damping "
            << config.options.get<DampedOptions>().damping << ", loss "
            << output.losses.front().value.item<double>() << "\n";
  return output.prediction.sizes() == x.sizes() ? 0 : 1;
}
