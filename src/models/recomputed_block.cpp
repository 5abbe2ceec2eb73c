#include "models/recomputed_block.h"

namespace edelta::models {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Which pass over which block; a kind of value that an autograd context can keep.
struct Recomputation : torch::CustomClassHolder {
  Recomputation(std::shared_ptr<Block> block, const ops::DropoutPass& pass)
      : block(std::move(block)), pass(pass) {}

  // What the block leaves, then the γ of its gates.
  variable_list outputs(const Tensor& x) const {
    Seen seen;
    variable_list all{block->forward(x, pass, seen)};
    all.insert(all.end(), seen.gates.begin(), seen.gates.end());
    return all;
  }

  std::shared_ptr<Block> block;
  ops::DropoutPass pass;
};

class RecomputedBlock : public torch::autograd::Function<RecomputedBlock> {
 public:
  // The parameters are arguments so that their gradients go the way of all others.
  static variable_list forward(AutogradContext* context, const Tensor& x,
                               at::TensorList /*parameters*/,
                               const c10::intrusive_ptr<Recomputation>& recomputation) {
    context->save_for_backward({x});
    context->saved_data["recomputation"] = c10::IValue::make_capsule(recomputation);
    context->set_materialize_grads(false);
    return recomputation->outputs(x);
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    TORCH_CHECK(!torch::GradMode::is_enabled(),
                "a block that is computed again has no second derivative");
    const auto recomputation = c10::static_intrusive_pointer_cast<Recomputation>(
        context->saved_data["recomputation"].toCapsule());
    const Tensor x = context->get_saved_variables()[0].detach().requires_grad_();
    variable_list inputs{x};
    for (const Tensor& parameter : recomputation->block->parameters()) inputs.push_back(parameter);
    variable_list outputs, given;
    {
      const torch::AutoGradMode with_graph(true);
      const variable_list all = recomputation->outputs(x);
      for (size_t i = 0; i < all.size(); ++i) {
        if (!upstream[i].defined()) continue;
        outputs.push_back(all[i]);
        given.push_back(upstream[i]);
      }
    }
    variable_list gradients = gradients_of(outputs, given, inputs);
    gradients.emplace_back();  // the last argument is no tensor
    return gradients;
  }

 private:
  // Undefined for inputs that want none, such as frozen parameters.
  static variable_list gradients_of(const variable_list& outputs, const variable_list& given,
                                    const variable_list& inputs) {
    variable_list wanted;
    for (const Tensor& input : inputs) {
      if (input.requires_grad()) wanted.push_back(input);
    }
    variable_list found = torch::autograd::grad(outputs, wanted, given, /*retain_graph=*/false,
                                                /*create_graph=*/false, /*allow_unused=*/true);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].requires_grad())
        found.insert(found.begin() + static_cast<int64_t>(i), Tensor());
    }
    return found;
  }
};

}  // namespace

Tensor forward_recomputed(const std::shared_ptr<Block>& block, const Tensor& x,
                          const ops::DropoutPass& pass, Seen& seen) {
  const std::vector<Tensor> parameters = block->parameters();
  const variable_list outputs = RecomputedBlock::apply(
      x, at::TensorList(parameters), c10::make_intrusive<Recomputation>(block, pass));
  seen.gates.insert(seen.gates.end(), outputs.begin() + 1, outputs.end());
  return outputs[0];
}

}  // namespace edelta::models
