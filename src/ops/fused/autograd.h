// What the fused autograd functions share.
#pragma once

#include <c10/util/Optional.h>
#include <torch/version.h>

#include <initializer_list>

#include "edelta/torch.h"

namespace edelta::ops::fused {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
// libtorch's functions take an absent tensor in this form.
using OptionalTensor = c10::optional<Tensor>;

inline OptionalTensor optional(const Tensor& tensor) {
  return tensor.defined() ? OptionalTensor(tensor.contiguous()) : c10::nullopt;
}

// The data of a contiguous float32 tensor, or null for an absent one.
inline float* data(const Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<float>() : nullptr;
}
inline float* data(const OptionalTensor& tensor) {
  return tensor ? tensor->data_ptr<float>() : nullptr;
}

// Whether a backward pass will come: only then are activations kept.
inline bool will_differentiate(std::initializer_list<Tensor> tensors) {
  if (!torch::GradMode::is_enabled()) return false;
  for (const Tensor& tensor : tensors) {
    if (tensor.defined() && tensor.requires_grad()) return true;
  }
  return false;
}

// Saves the arguments of forward() for the backward pass, and which of them want a gradient.
inline void save(AutogradContext* context, std::initializer_list<OptionalTensor> arguments,
                 const variable_list& others = {}) {
  variable_list all;
  int64_t wanted = 0;
  for (const OptionalTensor& argument : arguments) {
    if (argument && argument->requires_grad()) wanted |= int64_t{1} << all.size();
    all.push_back(argument ? *argument : Tensor());
  }
  for (const Tensor& other : others) all.push_back(other);
  context->save_for_backward(all);
  context->saved_data["wanted"] = wanted;
}

// Kernels have no derivative of their own: where a gradient is to be differentiated again, it must
// not come out as a constant.
inline void refuse_second_derivative() {
  TORCH_CHECK(!torch::GradMode::is_enabled(),
              "the fused kernels have no second derivative; compute in float64, or with the "
              "composite implementation");
}

// What forward() saved, for backward().
inline variable_list saved_variables(AutogradContext* context) {
  refuse_second_derivative();
  return context->get_saved_variables();
}

// Memory for the gradient of the index-th saved argument; undefined where none is wanted.
inline Tensor gradient_of(AutogradContext* context, const variable_list& saved, size_t index) {
  const bool wanted = (context->saved_data["wanted"].toInt() >> index & 1) != 0;
  return wanted ? torch::empty_like(saved[index]) : Tensor();
}

// The same, also where none is wanted: for kernels that always compute it.
inline Tensor gradient_memory(const variable_list& saved, size_t index) {
  return torch::empty_like(saved[index]);
}

// A gradient that backward() was given, as memory that it may add to: the gradient itself where
// nobody else holds it.
inline Tensor own(const Tensor& gradient) {
  // The lists in which libtorch hands gradients over; before 2.0 it kept one of its own meanwhile.
  constexpr size_t kHolders = TORCH_VERSION_MAJOR >= 2 ? 1 : 2;
  // Views that share its memory hold it, too.
  if (gradient.use_count() <= kHolders && gradient.storage().use_count() <= 1 &&
      gradient.is_contiguous()) {
    return gradient;
  }
  return gradient.clone(at::MemoryFormat::Contiguous);
}

inline std::vector<int64_t> with_last(const Tensor& x, int64_t last) {
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes.back() = last;
  return sizes;
}

// Per-token statistics of a layer norm, kept for the backward pass.
struct Statistics {
  Statistics(bool kept, int64_t tokens, const Tensor& like) {
    if (!kept) return;
    mean = torch::empty({tokens}, like.options().requires_grad(false));
    rstd = torch::empty_like(mean);
  }
  Tensor mean, rstd;
};

}  // namespace edelta::ops::fused
