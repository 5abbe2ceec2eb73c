// What the transformer around the operators is made of (specification 2), and its optimiser.
#include "edelta/ops/adamw.h"
#include "edelta/ops/attention.h"
#include "edelta/ops/cross_entropy.h"
#include "edelta/ops/embedding.h"
#include "edelta/ops/mlp.h"
#include "python/arguments.h"
#include "python/registration.h"

namespace edelta::python {
namespace {

using torch::Tensor;

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

// W LN(x) + b with what belongs to it.
struct Layer {
  Tensor x, weight;
  OptionalTensor bias, norm_weight, norm_bias;

  std::vector<Argument> list() const {
    return {{"x", x},
            {"weight", weight},
            {"bias", or_undefined(bias)},
            {"norm_weight", or_undefined(norm_weight)},
            {"norm_bias", or_undefined(norm_bias)}};
  }
  void require(const Arguments& checked, const char* weight_name = "weight",
               const char* bias_name = "bias") const {
    checked.require_dims("x", 1);
    checked.require_nonzero("x", -1);
    checked.require(weight.dim() == 2, std::string(weight_name) + " must have the shape [out, in]");
    checked.require_nonzero(weight_name, 0);
    const c10::SymInt in = x.sym_size(-1);
    checked.require_size(weight_name, 1, in, "[out, in]");
    checked.require_sizes(bias_name, {weight.sym_size(0)}, "[out]");
    require_norm(checked);
  }
  void require_norm(const Arguments& checked) const {
    checked.require_sizes("norm_weight", {x.sym_size(-1)}, "[in]");
    checked.require_sizes("norm_bias", {x.sym_size(-1)}, "[in]");
    checked.require(norm_weight || !norm_bias, "norm_bias needs a norm_weight");
  }
  ops::Norm norm(bool rms) const {
    return {or_undefined(norm_weight), or_undefined(norm_bias), rms};
  }
  ops::Affine map() const { return {weight, or_undefined(bias)}; }
  SymSizes output() const { return leading_with(x, {weight.sym_size(0)}); }
};

Tensor normalise(const Tensor& x, const Tensor& weight, const OptionalTensor& bias, bool rms) {
  const Layer layer{x, {}, {}, weight, bias};
  layer.require_norm({"normalise", layer.list()});
  return ops::normalise(x, layer.norm(rms)).contiguous();
}
Tensor normalise_shape(const Tensor& x, const Tensor& weight, const OptionalTensor& bias, bool) {
  const Layer layer{x, {}, {}, weight, bias};
  layer.require_norm({"normalise", layer.list()});
  return torch::empty_like(x, at::MemoryFormat::Contiguous);
}

void require_linear(const Layer& layer, const OptionalTensor& residual) {
  std::vector<Argument> all = layer.list();
  all.push_back({"residual", or_undefined(residual)});
  const Arguments checked("linear", all);
  layer.require(checked);
  checked.require_sizes("residual", layer.output(), "[..., out]");
}
Tensor linear(const Tensor& x, const Tensor& weight, const OptionalTensor& bias,
              const OptionalTensor& norm_weight, const OptionalTensor& norm_bias, bool rms,
              const OptionalTensor& residual, double dropout, const OptionalTensor& key,
              int64_t site) {
  const Layer layer{x, weight, bias, norm_weight, norm_bias};
  require_linear(layer, residual);
  return ops::linear(x, layer.norm(rms), layer.map(), or_undefined(residual),
                     dropout_of(dropout, key, site))
      .contiguous();
}
Tensor linear_shape(const Tensor& x, const Tensor& weight, const OptionalTensor& bias,
                    const OptionalTensor& norm_weight, const OptionalTensor& norm_bias, bool,
                    const OptionalTensor& residual, double, const OptionalTensor&, int64_t) {
  const Layer layer{x, weight, bias, norm_weight, norm_bias};
  require_linear(layer, residual);
  return empty_result(layer.output(), x);
}

// [..., in] → [..., out].
SymSizes require_mlp(const Tensor& x, const Tensor& fc_weight, const OptionalTensor& fc_bias,
                     const Tensor& proj_weight, const OptionalTensor& proj_bias,
                     const OptionalTensor& norm_weight, const OptionalTensor& norm_bias,
                     const OptionalTensor& residual) {
  const Arguments checked("mlp", {{"x", x},
                                  {"fc_weight", fc_weight},
                                  {"fc_bias", or_undefined(fc_bias)},
                                  {"proj_weight", proj_weight},
                                  {"proj_bias", or_undefined(proj_bias)},
                                  {"norm_weight", or_undefined(norm_weight)},
                                  {"norm_bias", or_undefined(norm_bias)},
                                  {"residual", or_undefined(residual)}});
  Layer{x, fc_weight, fc_bias, norm_weight, norm_bias}.require(checked, "fc_weight", "fc_bias");
  checked.require(proj_weight.dim() == 2, "proj_weight must have the shape [out, hidden]");
  checked.require_nonzero("proj_weight", 0);
  checked.require_size("proj_weight", 1, fc_weight.sym_size(0), "[out, hidden]");
  checked.require_sizes("proj_bias", {proj_weight.sym_size(0)}, "[out]");
  SymSizes sizes = leading_with(x, {proj_weight.sym_size(0)});
  checked.require_sizes("residual", sizes, "[..., out]");
  return sizes;
}
Tensor mlp(const Tensor& x, const Tensor& fc_weight, const OptionalTensor& fc_bias,
           const Tensor& proj_weight, const OptionalTensor& proj_bias,
           const OptionalTensor& norm_weight, const OptionalTensor& norm_bias,
           const OptionalTensor& residual, double dropout, const OptionalTensor& key,
           int64_t site) {
  require_mlp(x, fc_weight, fc_bias, proj_weight, proj_bias, norm_weight, norm_bias, residual);
  return ops::mlp(x, {or_undefined(norm_weight), or_undefined(norm_bias)},
                  {fc_weight, or_undefined(fc_bias)}, {proj_weight, or_undefined(proj_bias)},
                  or_undefined(residual), dropout_of(dropout, key, site))
      .contiguous();
}
Tensor mlp_shape(const Tensor& x, const Tensor& fc_weight, const OptionalTensor& fc_bias,
                 const Tensor& proj_weight, const OptionalTensor& proj_bias,
                 const OptionalTensor& norm_weight, const OptionalTensor& norm_bias,
                 const OptionalTensor& residual, double, const OptionalTensor&, int64_t) {
  return empty_result(
      require_mlp(x, fc_weight, fc_bias, proj_weight, proj_bias, norm_weight, norm_bias, residual),
      x);
}

void require_attention(const Tensor& qkv, int64_t heads) {
  const Arguments checked("causal_attention", {{"qkv", qkv}});
  checked.require(qkv.dim() == 3, "qkv must have the shape [B, T, 3·D]");
  checked.require_nonzero("qkv", -1);
  checked.require(heads > 0 && qkv.sym_size(-1) % (3 * heads) == 0,
                  "qkv must have the shape [B, T, 3·D] with D a multiple of the heads");
}
Tensor causal_attention(const Tensor& qkv, int64_t heads, double dropout, const OptionalTensor& key,
                        int64_t site) {
  require_attention(qkv, heads);
  return ops::causal_attention(qkv, heads, dropout_of(dropout, key, site)).contiguous();
}
Tensor causal_attention_shape(const Tensor& qkv, int64_t heads, double, const OptionalTensor&,
                              int64_t) {
  require_attention(qkv, heads);
  return empty_result(leading_with(qkv, {qkv.sym_size(-1) / 3}), qkv);
}

void require_dropped(const Tensor& x) {
  const Arguments checked("drop", {{"x", x}});
  checked.require_dims("x", 1);
  checked.require_nonzero("x", -1);
}
Tensor drop(const Tensor& x, double dropout, const OptionalTensor& key, int64_t site) {
  require_dropped(x);
  // The result must not be the argument itself.
  return dropout == 0 ? x.clone(at::MemoryFormat::Contiguous)
                      : ops::drop(x, dropout_of(dropout, key, site)).contiguous();
}
Tensor drop_shape(const Tensor& x, double, const OptionalTensor&, int64_t) {
  require_dropped(x);
  return torch::empty_like(x, at::MemoryFormat::Contiguous);
}

void require_embedding(const Tensor& token, const Tensor& words, const Tensor& positions) {
  const Arguments checked("embedding", {{"words", words}, {"positions", positions}});
  checked.require(token.scalar_type() == torch::kInt64 && token.dim() == 2,
                  "token must be an int64 tensor of the shape [B, T]");
  checked.require(token.device() == words.device(), "token must be where words are");
  checked.require(words.dim() == 2, "words must have the shape [V, D]");
  checked.require(positions.dim() == 2, "positions must have the shape [T or more, D]");
  checked.require_size("positions", 1, words.sym_size(1), "[T or more, D]");
  checked.require(token.sym_size(1) <= positions.sym_size(0),
                  "there are fewer positions than a sequence has");
}
Tensor embedding(const Tensor& token, const Tensor& words, const Tensor& positions) {
  require_embedding(token, words, positions);
  return ops::embedding(token, words, positions).y.contiguous();
}
Tensor embedding_shape(const Tensor& token, const Tensor& words, const Tensor& positions) {
  require_embedding(token, words, positions);
  return empty_result({token.sym_size(0), token.sym_size(1), words.sym_size(1)}, words);
}

void require_loss(const char* op, const Layer& layer, const Tensor& target) {
  const Arguments checked(op, layer.list());
  layer.require(checked);
  checked.require_dims("x", 2);
  checked.require(target.scalar_type() == torch::kInt64, "target must be an int64 tensor");
  checked.require(target.device() == layer.x.device(), "target must be where x is");
  const SymSizes sizes = leading(layer.x);
  checked.require(
      std::equal(sizes.begin(), sizes.end(), target.sym_sizes().begin(), target.sym_sizes().end()),
      "target must have the shape of x without its last dimension");
}
Tensor cross_entropy(const Tensor& x, const Tensor& weight, const Tensor& target,
                     const OptionalTensor& bias, const OptionalTensor& norm_weight,
                     const OptionalTensor& norm_bias, bool rms) {
  const Layer layer{x, weight, bias, norm_weight, norm_bias};
  require_loss("cross_entropy", layer, target);
  return ops::cross_entropy(x, layer.norm(rms), layer.map(), target);
}
Tensor cross_entropy_shape(const Tensor& x, const Tensor& weight, const Tensor& target,
                           const OptionalTensor& bias, const OptionalTensor& norm_weight,
                           const OptionalTensor& norm_bias, bool) {
  require_loss("cross_entropy", {x, weight, bias, norm_weight, norm_bias}, target);
  return empty_result({}, x);
}
Tensor token_losses(const Tensor& x, const Tensor& weight, const Tensor& target,
                    const OptionalTensor& bias, const OptionalTensor& norm_weight,
                    const OptionalTensor& norm_bias, bool rms) {
  const Layer layer{x, weight, bias, norm_weight, norm_bias};
  require_loss("token_losses", layer, target);
  return ops::token_losses(x, layer.norm(rms), layer.map(), target).contiguous();
}
Tensor token_losses_shape(const Tensor& x, const Tensor& weight, const Tensor& target,
                          const OptionalTensor& bias, const OptionalTensor& norm_weight,
                          const OptionalTensor& norm_bias, bool) {
  require_loss("token_losses", {x, weight, bias, norm_weight, norm_bias}, target);
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
