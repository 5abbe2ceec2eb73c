#include "python/registration.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>

#include <string_view>
#include <vector>

namespace edelta::python {
namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::IValue;
using c10::OperatorHandle;
using torch::Tensor;
using torch::autograd::SavedVariable;
using torch::autograd::variable_list;
using torch::jit::Stack;

constexpr std::string_view kBackward = "_backward";

OperatorHandle find_op(const std::string& name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name.c_str(), "");
}

bool is_differentiable(const IValue& value) {
  return value.isTensor() && value.toTensor().defined() &&
         at::isFloatingType(value.toTensor().scalar_type());
}

// The tensors among values, those in lists too.
template <class Values>
variable_list tensors_of(const Values& values) {
  variable_list all;
  for (const IValue& value : values) {
    if (value.isTensor() && value.toTensor().defined()) all.push_back(value.toTensor());
    if (value.isTensorList()) {
      for (const Tensor& tensor : value.toTensorVector()) all.push_back(tensor);
    }
  }
  return all;
}

// Whether somebody wants to see ops instead of results: a mode or tensor of Python's, a transform
// (torch.func), whose tensors wrap others, or a tensor that has no data.
bool is_traced(const variable_list& tensors) {
  constexpr DispatchKeySet tracers(
      {DispatchKey::Python, DispatchKey::Functionalize, DispatchKey::FuncTorchGradWrapper,
       DispatchKey::FuncTorchBatched, DispatchKey::FuncTorchDynamicLayerBackMode});
  if (c10::impl::tls_local_dispatch_key_set().included_.has_any(tracers)) return true;
  for (const Tensor& tensor : tensors) {
    if (tensor.is_meta() || tensor.key_set().has_any(tracers)) return true;
  }
  return false;
}

bool wants_gradient(const variable_list& tensors) {
  if (!torch::GradMode::is_enabled()) return false;
  for (const Tensor& tensor : tensors) {
    if (tensor.requires_grad()) return true;
  }
  return false;
}

// The derivative of a traced op: a call of NAME_backward with the arguments of NAME.
class TracedBackward : public torch::autograd::Node {
 public:
  TracedBackward(std::string op, std::vector<IValue> arguments)
      : op_(std::move(op)), arguments_(std::move(arguments)) {
    for (IValue& argument : arguments_) {
      if (!argument.isTensor()) continue;
      saved_.emplace_back(argument.toTensor(), /*is_output=*/false);
      argument = IValue(Tensor());
    }
  }

  variable_list apply(variable_list&& gradients) override {
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].defined()) gradients[i] = input_metadata(i).zeros_like();
    }
    Stack stack{IValue(gradients)};
    auto saved = saved_.begin();
    for (const IValue& argument : arguments_) {
      stack.push_back(argument.isTensor() ? IValue((saved++)->unpack()) : argument);
    }
    find_op(op_ + std::string(kBackward)).callBoxed(&stack);
    return stack.back().toTensorVector();
  }

  void release_variables() override {
    for (SavedVariable& saved : saved_) saved.reset_data();
  }
  std::string name() const override { return op_ + std::string(kBackward); }

 private:
  std::string op_;
  std::vector<IValue> arguments_;  // undefined where a tensor is saved
  std::vector<SavedVariable> saved_;
};

// The kernel of the autograd keys.
void differentiate(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  const auto given = torch::jit::last(*stack, op.schema().arguments().size());
  const std::vector<IValue> arguments(given.begin(), given.end());
  const variable_list tensors = tensors_of(arguments);
  const DispatchKeySet below = keys & c10::after_autograd_keyset;
  // Without a guard: what the op does inside is recorded.
  if (!is_traced(tensors)) return op.redispatchBoxed(below, stack);

  std::shared_ptr<TracedBackward> node;
  if (wants_gradient(tensors)) {
    variable_list inputs;
    for (const IValue& argument : arguments) {
      if (is_differentiable(argument)) inputs.push_back(argument.toTensor());
    }
    node = std::shared_ptr<TracedBackward>(new TracedBackward(op.schema().name(), arguments),
                                           torch::autograd::deleteNode);
    node->set_next_edges(torch::autograd::collect_next_edges(inputs));
  }
  {
    const at::AutoDispatchBelowADInplaceOrView guard;
    op.redispatchBoxed(below, stack);
  }
  if (!node) return;
  variable_list results = tensors_of(torch::jit::last(*stack, op.schema().returns().size()));
  for (Tensor& result : results) {
    torch::autograd::set_history(result, node);
  }
}

// That of NAME_backward. Some (torch.func) record every derivative, wanted or not: it is an error
// to go back through this one, not to record it.
void differentiate_once(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  const variable_list tensors =
      tensors_of(torch::jit::last(*stack, op.schema().arguments().size()));
  std::shared_ptr<torch::autograd::Node> refusal;
  if (wants_gradient(tensors)) {
    refusal = std::shared_ptr<torch::autograd::Node>(
        new torch::autograd::Error(
            op.schema().name() + " has no derivative: a traced op can be differentiated once",
            torch::autograd::collect_next_edges(tensors)),
        torch::autograd::deleteNode);
  }
  {
    const at::AutoDispatchBelowADInplaceOrView guard;
    op.redispatchBoxed(keys & c10::after_autograd_keyset, stack);
  }
  if (!refusal) return;
  variable_list results = tensors_of(torch::jit::last(*stack, 1));
  for (Tensor& result : results) torch::autograd::set_history(result, refusal);
}

// The gradients of the floating tensors among NAME's arguments, in their order.
void compute_again(const OperatorHandle& op, Stack* stack) {
  const std::string& name = op.schema().name();
  std::vector<IValue> arguments = torch::jit::pop(*stack, op.schema().arguments().size());
  const variable_list gradients = arguments[0].toTensorVector();
  Stack inner(arguments.begin() + 1, arguments.end());
  // The caller may be below autograd.
  const c10::impl::ForceDispatchKeyGuard as_usual{
      c10::impl::LocalDispatchKeySet(c10::impl::PODLocalDispatchKeySet{})};
  const torch::AutoGradMode record(true);
  variable_list inputs;
  for (IValue& argument : inner) {
    if (!is_differentiable(argument)) continue;
    inputs.push_back(argument.toTensor().detach().requires_grad_());
    argument = inputs.back();
  }
  find_op(name.substr(0, name.size() - kBackward.size())).callBoxed(&inner);
  variable_list outputs, upstream;
  const variable_list results = tensors_of(inner);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].requires_grad()) continue;
    outputs.push_back(results[i]);
    upstream.push_back(gradients.at(i));
  }
  variable_list found = torch::autograd::grad(outputs, inputs, upstream, /*retain_graph=*/false,
                                              /*create_graph=*/false, /*allow_unused=*/true);
  for (size_t i = 0; i < found.size(); ++i) {
    found[i] = found[i].defined() ? found[i].contiguous() : torch::zeros_like(inputs[i]);
    found[i] = found[i].detach();
  }
  stack->emplace_back(found);
}

void shapes_of_gradients(const OperatorHandle& op, Stack* stack) {
  variable_list found;
  const std::vector<IValue> arguments = torch::jit::pop(*stack, op.schema().arguments().size());
  for (size_t i = 1; i < arguments.size(); ++i) {
    if (!is_differentiable(arguments[i])) continue;
    found.push_back(
        torch::empty_like(arguments[i].toTensor(), at::MemoryFormat::Contiguous).detach());
  }
  stack->emplace_back(found);
}

// Under autocast tensors of several precisions meet; the ops compute in the widest of them all.
void in_float32(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  for (auto argument = stack->end() - static_cast<int64_t>(op.schema().arguments().size());
       argument != stack->end(); ++argument) {
    if (!is_differentiable(*argument)) continue;
    const Tensor tensor = argument->toTensor();
    const auto type = tensor.scalar_type();
    if (type == torch::kHalf || type == torch::kBFloat16) {
      *argument = tensor.to(torch::kFloat32);
    }
  }
  op.callBoxed(stack);
}

}  // namespace

void Registration::add_derivative(const std::string& schema) {
  using torch::CppFunction;
  const std::string name = name_in(schema), backward = name + std::string(kBackward);
  const size_t returns = schema.find("->");
  const std::string arguments = schema.substr(name.size() + 1, returns - name.size() - 1);
  library_.def((backward + "(Tensor[] gradients, " + arguments + "-> Tensor[]").c_str());
  const auto add = [&](const std::string& op, DispatchKey key, CppFunction kernel) {
    library_.impl(op.c_str(), torch::dispatch(key, std::move(kernel)));
  };
  add(name, DispatchKey::Autograd, CppFunction::makeFromBoxedFunction<&differentiate>());
  add(backward, DispatchKey::Autograd, CppFunction::makeFromBoxedFunction<&differentiate_once>());
  add(backward, DispatchKey::CompositeExplicitAutograd,
      CppFunction::makeFromBoxedFunction<&compute_again>());
  add(backward, DispatchKey::Meta, CppFunction::makeFromBoxedFunction<&shapes_of_gradients>());
  for (const DispatchKey autocast : {DispatchKey::AutocastCPU, DispatchKey::AutocastCUDA}) {
    add(name, autocast, CppFunction::makeFromBoxedFunction<&in_float32>());
  }
}

}  // namespace edelta::python
