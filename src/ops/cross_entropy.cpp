#include "edelta/ops/cross_entropy.h"

#include "edelta/ops/implementation.h"
#include "ops/fused/fused.h"
#include "ops/index_range.h"
#include "ops/shapes.h"

namespace edelta::ops {
namespace {

using torch::Tensor;

void check(const char* op, const Tensor& x, const Norm& norm, const Affine& map,
           const Tensor& target) {
  shapes::require_loss(op, x, norm, map, target);
  require_indices(target, kIgnoredTarget, map.weight.size(0), "target");
}

Tensor composite_losses(const Tensor& x, const Norm& norm, const Affine& map,
                        const Tensor& target) {
  const Tensor logits = torch::linear(normalise(x, norm), map.weight, map.bias);
  return torch::cross_entropy_loss(logits.flatten(0, -2), target.flatten(), /*weight=*/{},
                                   at::Reduction::None, kIgnoredTarget)
      .view(target.sizes());
}

bool use_kernel(const Tensor& x, const Norm& norm, const Affine& map) {
  return use_fused({x, norm.weight, norm.bias, map.weight, map.bias});
}

}  // namespace

Tensor cross_entropy(const Tensor& x, const Norm& norm, const Affine& map, const Tensor& target) {
  check("cross_entropy", x, norm, map, target);
  if (use_kernel(x, norm, map)) return fused::cross_entropy(x, norm, map, target);
  // Not libtorch's own mean, which is NaN where no token counts.
  const Tensor count = target.ne(kIgnoredTarget).sum().clamp_min(1);
  return composite_losses(x, norm, map, target).sum() / count;
}

Tensor token_losses(const Tensor& x, const Norm& norm, const Affine& map, const Tensor& target) {
  const torch::NoGradGuard no_grad;
  check("token_losses", x, norm, map, target);
  if (use_kernel(x, norm, map)) return fused::token_losses(x, norm, map, target);
  return composite_losses(x, norm, map, target);
}

}  // namespace edelta::ops
