#include "nn/enclosed_sublayer.h"

#include "edelta/ops/implementation.h"

namespace edelta::nn {
namespace {

using torch::Tensor;
using torch::nn::Linear;

Tensor product(const Tensor& a, const Tensor& b) { return ops::linear(a, {}, {b.t(), {}}); }

// outer ∘ inner: W = W_outer W_inner, b = W_outer b_inner.
ops::Affine compose(const Tensor& outer, const ops::Affine& inner) {
  return {product(outer, inner.weight),
          inner.bias.defined() ? outer.matmul(inner.bias) : inner.bias};
}

// Whether a D×D map is to be multiplied into its neighbour. With the neighbour's other width w that
// takes w·D² multiply-adds, forward and twice as many backward, and saves every token D², likewise.
bool folding_pays(int64_t tokens, int64_t other_width) {
  return ops::fold_maps() && tokens > other_width;
}

// n equal streams have the mean and variance of one, so LN(x repeated) is LN(x) repeated, and the
// first map sees the same numbers n times: it folds to the sum of its n blocks, each scaled by
// the norm's weight, with the norm's shift going into the bias.
NormedMap folded_repeats(const ops::Norm& norm, int64_t repeats, const Linear& first) {
  const Tensor weight =
      (first->weight * norm.weight).view({first->weight.size(0), repeats, -1}).sum(1);
  Tensor bias = first->bias;
  if (norm.bias.defined()) {
    const Tensor shift = first->weight.matmul(norm.bias);
    bias = bias.defined() ? bias + shift : shift;
  }
  const Tensor ones = torch::ones({weight.size(1)}, weight.options().requires_grad(false));
  return {{ones, {}}, {weight, bias}};
}

}  // namespace

Linear make_linear(int64_t in, int64_t out, bool bias) {
  return Linear(torch::nn::LinearOptions(in, out).bias(bias));
}

// H_pre and H_post stand next to linear maps with nothing in between: where that is less work, the
// matrices are multiplied once, and every token sees one map instead of two.
EnclosedSubLayer::Entry EnclosedSubLayer::enter(const Tensor& x, const ops::Norm& norm,
                                                const Around& around, const Linear& first) {
  const Tensor& pre = around.pre;
  if (around.repeats > 1) {
    if (ops::fold_maps() && !pre.defined()) {
      const NormedMap folded = folded_repeats(norm, around.repeats, first);
      return {x, folded.norm, folded.map};
    }
    return enter(x.repeat({1, 1, around.repeats}), norm, {.pre = pre}, first);
  }
  if (!pre.defined()) return {x, norm, affine(first)};
  if (folding_pays(x.numel() / x.size(-1), first->weight.size(0))) {
    return {x, norm, {product(first->weight, pre), first->bias}};
  }
  return {ops::linear(x, norm, {pre, {}}), {}, affine(first)};
}

// A dropout mask is another one for every token, so that nothing folds across it.
Tensor EnclosedSubLayer::leave(int64_t tokens, const Around& around, const Linear& last,
                               const ops::Dropout& dropout, const Last& apply) {
  if (!around.post.defined()) return apply(affine(last), around.residual);
  if (dropout.probability == 0 && folding_pays(tokens, last->weight.size(1))) {
    return apply(compose(around.post, affine(last)), around.residual);
  }
  return ops::linear(apply(affine(last), {}), {}, {around.post, {}}, around.residual);
}

NormedMap EnclosedSubLayer::folded_first(const ops::Norm& norm, const Around& around,
                                         const Linear& first) {
  const torch::NoGradGuard no_grad;
  TORCH_CHECK(around.repeats == 1 || !around.pre.defined(), "repeated streams have no H_pre");
  if (around.repeats > 1) return folded_repeats(norm, around.repeats, first);
  if (!around.pre.defined()) return {norm, affine(first)};
  return {norm, {product(first->weight, around.pre), first->bias}};
}

ops::Affine EnclosedSubLayer::folded_last(const Around& around, const Linear& last) {
  const torch::NoGradGuard no_grad;
  return around.post.defined() ? compose(around.post, affine(last)) : affine(last);
}

}  // namespace edelta::nn
