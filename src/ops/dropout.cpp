#include "edelta/ops/dropout.h"

#include <ATen/Parallel.h>

#include "edelta/ops/implementation.h"
#include "kernels/dropout.h"
#include "ops/fused/fused.h"
#include "ops/shapes.h"

namespace edelta::ops {

using torch::Tensor;

Tensor dropout_factors(const Dropout& dropout, int64_t planes, int64_t rows, int64_t columns,
                       torch::ScalarType type, int64_t first_plane, int64_t first_column) {
  auto mask = kernels::dropout_mask(dropout.probability, dropout.key, dropout.site);
  mask.first_plane = first_plane;
  mask.first_column = first_column;
  const Tensor factors = torch::empty({planes, rows, columns}, torch::kFloat32);
  auto* memory = factors.data_ptr<float>();
  at::parallel_for(0, planes * rows, /*grain_size=*/64, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      kernels::dropout_factors(mask, row / rows, row % rows, columns, memory + row * columns);
    }
  });
  return factors.to(type);
}

Tensor drop(const Tensor& x, const Dropout& dropout) {
  shapes::require_dropped(x);
  if (dropout.probability == 0) return x;
  if (use_fused({x})) return fused::drop(x, dropout);
  const int64_t width = x.size(-1);
  const Tensor factors = dropout_factors(dropout, 1, width, x.numel() / width, x.scalar_type(),
                                         /*first_plane=*/0, dropout.first_token)[0];
  return x * factors.t().reshape(x.sizes()).to(x.device());
}

}  // namespace edelta::ops
