// Fewer and more training sequences: does a connection fit better, or does it generalise better?
#include "reproduce/experiments/experiments.h"
#include "reproduce/experiments/own_study.h"

namespace edelta::reproduce {
namespace {

struct Amount {
  const char* label;
  double times;
};
constexpr Amount kAmounts[] = {
    {"an eighth of the sequences", 0.125}, {"all", 1}, {"eight times as many", 8}};

}  // namespace

Experiment training_set_experiment() {
  const Variant models[] = {{.label = "gpt", .model = "gpt"},
                            {.label = "edelta", .model = "edelta"},
                            edelta_with("no operator", {{"branch", "none"}})};
  std::vector<Variant> variants;
  for (const Variant& model : models) {
    for (const Amount& amount : kAmounts) {
      variants.push_back(model);
      variants.back().label += std::string(", ") + amount.label;
      variants.back().training_set = amount.times;
    }
  }
  return own_study(
      {.name = "training-set",
       .title = "Number of training sequences",
       .claim = "The paper trains on 800 to 900 sequences and gives validation losses alone.",
       .method =
           "gpt, edelta and edelta without an operator with an eighth, with all and with eight "
           "times as many training sequences, the iterations being the same. Where the training "
           "loss is far below the validation loss, a model has learned its sequences by heart; "
           "more of them then tell whether it lacks anything else.",
       .variants = variants,
       .tasks = {"stability", "near-pi-multi"},
       .plateau = true});
}

}  // namespace edelta::reproduce
