// Training from C++: a run folder as `edelta train` makes it, a model of one's own in it, and what
// came out. A second call continues the run, or says that it is finished.
#include <edelta/models/registry.h>
#include <edelta/train/evaluate.h>
#include <edelta/train/trainer.h>

#include <iostream>

using namespace edelta;

namespace {

class HalvedResidual : public models::Connection {
 public:
  torch::Tensor forward(const torch::Tensor& x, const models::PreNormSubLayer& f,
                        models::Seen&) override {
    return 0.5 * x + f(x);
  }
};

}  // namespace

int main(int count, char** arguments) {
  models::register_architecture({.name = "halved",
                                 .summary = "x/2 + F(LN x)",
                                 .make_connection = [](const models::ModelConfig&, models::Site&) {
                                   return std::make_unique<HalvedResidual>();
                                 }});
  const train::RunFolder run(count > 1 ? arguments[1] : "run");
  if (!run.exists()) {
    run.create(train::train_config_from_json(
        {{"preset", "smoke"},
         {"task", {{"task", "gyroscope"}, {"dim", 8}, {"train", 64}, {"val", 16}}},
         {"model", {{"model", "halved"}}},
         {"train", {{"iterations", 100}}}},
        "example"));
  }
  const train::TrainOutcome outcome = train::train(run, {.on_step = [](const auto& report) {
                                                     if (report.iteration % 20 == 0) {
                                                       std::cout << report.iteration << ": "
                                                                 << report.train_loss << "\n";
                                                     }
                                                   }});
  const auto model = load_run_model(run, train::Which::best);
  const data::Dataset data = load_data(run.read_config());
  std::cout << "validation loss " << train::evaluate(*model, data.val_x, data.val_y).loss
            << ", at the start " << outcome.result["initial_val_loss"] << "\n";
  return outcome.result["final_val_loss"] < outcome.result["initial_val_loss"] ? 0 : 1;
}
