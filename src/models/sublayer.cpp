#include "edelta/models/sublayer.h"

#include "edelta/ops/dispatch.h"

namespace edelta::models {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

nn::Linear make_linear(int64_t in, int64_t out, bool bias) {
  return nn::Linear(nn::LinearOptions(in, out).bias(bias));
}

ops::Affine affine(const nn::Linear& linear) { return {linear->weight, linear->bias}; }

Tensor product(const Tensor& a, const Tensor& b) { return ops::linear(a, {}, {b.t(), {}}); }

// outer ∘ inner: W = W_outer W_inner, b = W_outer b_inner.
ops::Affine compose(const Tensor& outer, const ops::Affine& inner) {
  return {product(outer, inner.weight),
          inner.bias.defined() ? outer.matmul(inner.bias) : inner.bias};
}

// What both sub-layers share: a first and a last linear map, and what may stand beside them.
class EnclosedSubLayer : public SubLayer {
 protected:
  explicit EnclosedSubLayer(double dropout) : dropout_(dropout) {}

  bool drops() const { return dropout_ > 0 && is_training(); }
  double dropout_probability() const { return drops() ? dropout_ : 0; }

  // H_pre and H_post stand next to linear maps with nothing in between, so the fused path
  // multiplies the small matrices once and lets every token see one map instead of two.
  static bool folds() { return ops::implementation() == ops::Implementation::fused; }

  // first ∘ pre ∘ LN, as (normalised) input, norm and map for the op that starts with them.
  struct Entry {
    Tensor x;
    ops::Norm norm;
    ops::Affine map;
  };
  static Entry enter(const Tensor& x, const ops::Norm& norm, const Around& around,
                     const nn::Linear& first) {
    const Tensor& pre = around.pre;
    if (around.repeats > 1) {
      if (folds() && !pre.defined()) return fold_repeats(x, norm, around.repeats, first);
      return enter(x.repeat({1, 1, around.repeats}), norm, {.pre = pre}, first);
    }
    if (!pre.defined()) return {x, norm, affine(first)};
    if (folds()) return {x, norm, {product(first->weight, pre), first->bias}};
    return {ops::linear(x, norm, {pre, {}}), {}, affine(first)};
  }

  // n equal streams have the mean and variance of one, so LN(x repeated) is LN(x) repeated, and the
  // first map sees the same numbers n times: it folds to the sum of its n blocks, each scaled by
  // the norm's weight, with the norm's shift going into the bias.
  static Entry fold_repeats(const Tensor& x, const ops::Norm& norm, int64_t repeats,
                            const nn::Linear& first) {
    const int64_t width = x.size(-1);
    const Tensor weight =
        (first->weight * norm.weight).view({first->weight.size(0), repeats, width}).sum(1);
    Tensor bias = first->bias;
    if (norm.bias.defined()) {
      const Tensor shift = first->weight.matmul(norm.bias);
      bias = bias.defined() ? bias + shift : shift;
    }
    return {x, {torch::ones({width}, x.options().requires_grad(false)), {}}, {weight, bias}};
  }

  // residual + post · dropout(last(y)), given how to compute map and residual in one op.
  template <class Last>
  Tensor leave(const Around& around, const nn::Linear& last, Last apply) const {
    if (!drops()) {
      if (!around.post.defined()) return apply(affine(last), around.residual);
      if (folds()) return apply(compose(around.post, affine(last)), around.residual);
    }
    Tensor y = torch::dropout(apply(affine(last), Tensor()), dropout_, drops());
    if (around.post.defined()) return ops::linear(y, {}, {around.post, {}}, around.residual);
    return around.residual.defined() ? around.residual + y : y;
  }

 private:
  double dropout_;
};

class Attention : public EnclosedSubLayer {
 public:
  explicit Attention(const SubLayerOptions& options)
      : EnclosedSubLayer(options.dropout),
        heads_(options.heads),
        c_attn_(
            register_module("c_attn", make_linear(options.width, 3 * options.width, options.bias))),
        c_proj_(
            register_module("c_proj", make_linear(options.width, options.width, options.bias))) {}

  Tensor forward(const Tensor& x, const ops::Norm& norm, const Around& around) override {
    const Entry entry = enter(x, norm, around, c_attn_);
    const Tensor qkv = ops::linear(entry.x, entry.norm, entry.map);
    const Tensor mixed = ops::causal_attention(qkv, heads_, dropout_probability());
    return leave(around, c_proj_, [&](const ops::Affine& map, const Tensor& residual) {
      return ops::linear(mixed, {}, map, residual);
    });
  }

 private:
  int64_t heads_;
  nn::Linear c_attn_, c_proj_;
};

class Mlp : public EnclosedSubLayer {
 public:
  explicit Mlp(const SubLayerOptions& options)
      : EnclosedSubLayer(options.dropout),
        c_fc_(register_module("c_fc", make_linear(options.width, 4 * options.width, options.bias))),
        c_proj_(register_module("c_proj",
                                make_linear(4 * options.width, options.width, options.bias))) {}

  Tensor forward(const Tensor& x, const ops::Norm& norm, const Around& around) override {
    const Entry entry = enter(x, norm, around, c_fc_);
    return leave(around, c_proj_, [&](const ops::Affine& map, const Tensor& residual) {
      return ops::mlp(entry.x, entry.norm, entry.map, map, residual);
    });
  }

 private:
  nn::Linear c_fc_, c_proj_;
};

}  // namespace

std::shared_ptr<SubLayer> make_attention(const SubLayerOptions& options) {
  return std::make_shared<Attention>(options);
}

std::shared_ptr<SubLayer> make_mlp(const SubLayerOptions& options) {
  return std::make_shared<Mlp>(options);
}

}  // namespace edelta::models
