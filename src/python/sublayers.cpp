// What the transformer around the operators is made of (specification 2), and its optimiser.
#include "edelta/ops/adamw.h"
#include "edelta/ops/attention.h"
#include "edelta/ops/cross_entropy.h"
#include "edelta/ops/embedding.h"
#include "edelta/ops/mlp.h"
#include "ops/shapes.h"
#include "python/arguments.h"
#include "python/registration.h"

namespace edelta::python {
namespace {

using torch::Tensor;
namespace shapes = ops::shapes;

// The key of a pass is a tensor, so that a traced graph can draw another one each time.
ops::Dropout dropout_of(double probability, const OptionalTensor& key, int64_t site) {
  TORCH_CHECK(probability >= 0 && probability < 1, "dropout must be at least 0 and below 1, not ",
              probability);
  TORCH_CHECK(site >= 0 && site <= UINT32_MAX, "site must fit 32 bits, not ", site);
  if (probability == 0) return {};
  TORCH_CHECK(key && key->scalar_type() == torch::kInt64 && key->numel() == 1,
              "dropout needs a key, an int64 tensor with one number");
  return {probability, static_cast<uint64_t>(key->item<int64_t>()), static_cast<uint32_t>(site)};
}

ops::Norm norm_of(const OptionalTensor& weight, const OptionalTensor& bias, bool rms = false) {
  return {or_undefined(weight), or_undefined(bias), rms};
}
ops::Affine map_of(const Tensor& weight, const OptionalTensor& bias) {
  return {weight, or_undefined(bias)};
}

Tensor normalise(const Tensor& x, const Tensor& weight, const OptionalTensor& bias, bool rms) {
  return ops::normalise(x, norm_of(weight, bias, rms)).contiguous();
}
Tensor normalise_shape(const Tensor& x, const Tensor& weight, const OptionalTensor& bias,
                       bool rms) {
  shapes::require_norm(x, norm_of(weight, bias, rms));
  return torch::empty_like(x, at::MemoryFormat::Contiguous);
}

Tensor linear(const Tensor& x, const Tensor& weight, const OptionalTensor& bias,
              const OptionalTensor& norm_weight, const OptionalTensor& norm_bias, bool rms,
              const OptionalTensor& residual, double dropout, const OptionalTensor& key,
              int64_t site) {
  return ops::linear(x, norm_of(norm_weight, norm_bias, rms), map_of(weight, bias),
                     or_undefined(residual), dropout_of(dropout, key, site))
      .contiguous();
}
Tensor linear_shape(const Tensor& x, const Tensor& weight, const OptionalTensor& bias,
                    const OptionalTensor& norm_weight, const OptionalTensor& norm_bias, bool rms,
                    const OptionalTensor& residual, double, const OptionalTensor&, int64_t) {
  return empty_result(shapes::linear(x, norm_of(norm_weight, norm_bias, rms), map_of(weight, bias),
                                     or_undefined(residual)),
                      x);
}

Tensor mlp(const Tensor& x, const Tensor& fc_weight, const OptionalTensor& fc_bias,
           const Tensor& proj_weight, const OptionalTensor& proj_bias,
           const OptionalTensor& norm_weight, const OptionalTensor& norm_bias,
           const OptionalTensor& residual, double dropout, const OptionalTensor& key,
           int64_t site) {
  return ops::mlp(x, norm_of(norm_weight, norm_bias), map_of(fc_weight, fc_bias),
                  map_of(proj_weight, proj_bias), or_undefined(residual),
                  dropout_of(dropout, key, site))
      .contiguous();
}
Tensor mlp_shape(const Tensor& x, const Tensor& fc_weight, const OptionalTensor& fc_bias,
                 const Tensor& proj_weight, const OptionalTensor& proj_bias,
                 const OptionalTensor& norm_weight, const OptionalTensor& norm_bias,
                 const OptionalTensor& residual, double, const OptionalTensor&, int64_t) {
  return empty_result(shapes::mlp(x, norm_of(norm_weight, norm_bias), map_of(fc_weight, fc_bias),
                                  map_of(proj_weight, proj_bias), or_undefined(residual)),
                      x);
}

Tensor causal_attention(const Tensor& qkv, int64_t heads, double dropout, const OptionalTensor& key,
                        int64_t site) {
  return ops::causal_attention(qkv, heads, dropout_of(dropout, key, site)).contiguous();
}
Tensor causal_attention_shape(const Tensor& qkv, int64_t heads, double, const OptionalTensor&,
                              int64_t) {
  return empty_result(shapes::causal_attention(qkv, heads), qkv);
}

Tensor drop(const Tensor& x, double dropout, const OptionalTensor& key, int64_t site) {
  const Tensor y = ops::drop(x, dropout_of(dropout, key, site));
  // The result must not be the argument itself.
  return dropout == 0 ? y.clone(at::MemoryFormat::Contiguous) : y.contiguous();
}
Tensor drop_shape(const Tensor& x, double, const OptionalTensor&, int64_t) {
  shapes::require_dropped(x);
  return torch::empty_like(x, at::MemoryFormat::Contiguous);
}

Tensor embedding(const Tensor& token, const Tensor& words, const Tensor& positions) {
  return ops::embedding(token, words, positions).y.contiguous();
}
Tensor embedding_shape(const Tensor& token, const Tensor& words, const Tensor& positions) {
  return empty_result(shapes::embedding(token, words, positions), words);
}

Tensor cross_entropy(const Tensor& x, const Tensor& weight, const Tensor& target,
                     const OptionalTensor& bias, const OptionalTensor& norm_weight,
                     const OptionalTensor& norm_bias, bool rms) {
  return ops::cross_entropy(x, norm_of(norm_weight, norm_bias, rms), map_of(weight, bias), target);
}
Tensor cross_entropy_shape(const Tensor& x, const Tensor& weight, const Tensor& target,
                           const OptionalTensor& bias, const OptionalTensor& norm_weight,
                           const OptionalTensor& norm_bias, bool rms) {
  shapes::require_loss("cross_entropy", x, norm_of(norm_weight, norm_bias, rms),
                       map_of(weight, bias), target);
  return empty_result({}, x);
}
Tensor token_losses(const Tensor& x, const Tensor& weight, const Tensor& target,
                    const OptionalTensor& bias, const OptionalTensor& norm_weight,
                    const OptionalTensor& norm_bias, bool rms) {
  return ops::token_losses(x, norm_of(norm_weight, norm_bias, rms), map_of(weight, bias), target)
      .contiguous();
}
Tensor token_losses_shape(const Tensor& x, const Tensor& weight, const Tensor& target,
                          const OptionalTensor& bias, const OptionalTensor& norm_weight,
                          const OptionalTensor& norm_bias, bool rms) {
  shapes::require_loss("token_losses", x, norm_of(norm_weight, norm_bias, rms),
                       map_of(weight, bias), target);
  return empty_result(leading(x), x);
}

Tensor dropout_factors(double probability, const Tensor& key, int64_t site, int64_t planes,
                       int64_t rows, int64_t columns) {
  TORCH_CHECK(planes >= 0 && rows >= 0 && columns >= 0, "sizes must not be negative");
  return ops::dropout_factors(dropout_of(probability, key, site), planes, rows, columns,
                              torch::kFloat32);
}
Tensor dropout_factors_shape(double, const Tensor& key, int64_t, int64_t planes, int64_t rows,
                             int64_t columns) {
  return torch::empty({planes, rows, columns}, key.options().dtype(torch::kFloat32));
}

void adamw_step(const std::vector<Tensor>& values, const std::vector<Tensor>& gradients,
                const std::vector<Tensor>& first, const std::vector<Tensor>& second,
                const std::vector<double>& weight_decay, int64_t step, double learning_rate,
                double beta1, double beta2, double eps, double gradient_scale) {
  TORCH_CHECK(gradients.size() == values.size() && first.size() == values.size() &&
                  second.size() == values.size() && weight_decay.size() == values.size(),
              "edelta::adamw_step: every list must have an entry for each value");
  TORCH_CHECK(step >= 1, "edelta::adamw_step: step counts from 1, it is not ", step);
  std::vector<ops::OptimisedTensor> tensors;
  for (size_t i = 0; i < values.size(); ++i) {
    const Arguments checked("adamw_step", {{"a value", values[i]},
                                           {"its gradient", gradients[i]},
                                           {"its first moment", first[i]},
                                           {"its second moment", second[i]}});
    const SymSizes sizes = leading(values[i], 0);
    for (const char* other : {"its gradient", "its first moment", "its second moment"}) {
      checked.require_sizes(other, sizes, "that of the value");
    }
    checked.require(
        values[i].is_contiguous() && first[i].is_contiguous() && second[i].is_contiguous(),
        "values and moments must be contiguous");
    tensors.push_back({values[i], gradients[i].contiguous(), first[i], second[i], weight_decay[i]});
  }
  const torch::NoGradGuard no_grad;
  ops::adamw_step(tensors, {step, learning_rate, beta1, beta2, eps, gradient_scale});
}

double squared_norm(const std::vector<Tensor>& gradients) {
  std::vector<ops::OptimisedTensor> tensors;
  for (const Tensor& gradient : gradients) {
    const Arguments checked("squared_norm", {{"a gradient", gradient}});
    // Only gradients are looked at; the other places must not be empty.
    const Tensor g = gradient.contiguous();
    tensors.push_back({g, g, g, g});
  }
  const torch::NoGradGuard no_grad;
  return ops::squared_norm(tensors);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(edelta, library) {
  Registration add(library);
  const std::string norm = "Tensor? norm_weight=None, Tensor? norm_bias=None";
  const std::string dropout = "float dropout=0., Tensor? key=None, int site=0) -> Tensor";
  const std::string loss =
      "(Tensor x, Tensor weight, Tensor target, Tensor? bias=None, " + norm + ", bool rms=False) ";
  add.differentiable(
      "normalise(Tensor x, Tensor weight, Tensor? bias=None, bool rms=False) -> Tensor", &normalise,
      &normalise_shape);
  add.differentiable("linear(Tensor x, Tensor weight, Tensor? bias=None, " + norm +
                         ", bool rms=False, Tensor? residual=None, " + dropout,
                     &linear, &linear_shape);
  add.differentiable(
      "mlp(Tensor x, Tensor fc_weight, Tensor? fc_bias, Tensor proj_weight, "
      "Tensor? proj_bias, " +
          norm + ", Tensor? residual=None, " + dropout,
      &mlp, &mlp_shape);
  add.differentiable("causal_attention(Tensor qkv, int heads, " + dropout, &causal_attention,
                     &causal_attention_shape);
  add.differentiable("drop(Tensor x, " + dropout, &drop, &drop_shape);
  add.differentiable("embedding(Tensor token, Tensor words, Tensor positions) -> Tensor",
                     &embedding, &embedding_shape);
  add.differentiable("cross_entropy" + loss + "-> Tensor", &cross_entropy, &cross_entropy_shape);
  add.constant("token_losses" + loss + "-> Tensor", &token_losses, &token_losses_shape);
  add.constant(
      "dropout_factors(float dropout, Tensor key, int site, int planes, int rows, int columns) -> "
      "Tensor",
      &dropout_factors, &dropout_factors_shape);
  library.def(
      "adamw_step(Tensor(a!)[] values, Tensor[] gradients, Tensor(b!)[] first, Tensor(c!)[] "
      "second, "
      "float[] weight_decay, int step, float learning_rate, float beta1=0.9, float beta2=0.95, "
      "float eps=1e-08, float gradient_scale=1.) -> ()",
      &adamw_step);
  library.def("squared_norm(Tensor[] gradients) -> float", &squared_norm);
}

}  // namespace edelta::python
