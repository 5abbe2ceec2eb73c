#include "nn/row_map.h"

#include "kernels/few_rows.h"

namespace edelta::nn {
namespace {

using torch::Tensor;

Tensor plain(const Tensor& tensor) {
  return tensor.defined() ? tensor.detach().contiguous() : tensor;
}

const float* data(const Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<float>() : nullptr;
}

}  // namespace

PlainAffine::PlainAffine(const ops::Norm& norm, const ops::Affine& map)
    : norm_weight(plain(norm.weight)),
      norm_bias(plain(norm.bias)),
      weight(plain(map.weight)),
      bias(plain(map.bias)),
      rms(norm.rms),
      eps(static_cast<float>(norm.eps())) {}

void RowMap::operator()(int64_t rows, const float* x, float* y, const float* residual) const {
  const kernels::LinearForward arguments{.tokens = rows,
                                         .in = in(),
                                         .out = out(),
                                         .x = x,
                                         .norm_weight = data(map_.norm_weight),
                                         .norm_bias = data(map_.norm_bias),
                                         .rms = map_.rms,
                                         .eps = map_.eps,
                                         .weight = data(map_.weight),
                                         .bias = data(map_.bias),
                                         .residual = residual,
                                         .y = y};
  rows < kernels::kFewRows ? linear_few_rows(arguments) : linear_forward(arguments);
}

void RowNet::operator()(int64_t rows, const float* x, float* y, const float* residual) const {
  const kernels::MlpForward arguments{.tokens = rows,
                                      .in = fc_.in(),
                                      .hidden = fc_.out(),
                                      .out = out(),
                                      .x = x,
                                      .norm_weight = data(fc_.norm_weight),
                                      .norm_bias = data(fc_.norm_bias),
                                      .eps = fc_.eps,
                                      .fc_weight = data(fc_.weight),
                                      .fc_bias = data(fc_.bias),
                                      .proj_weight = data(proj_.weight),
                                      .proj_bias = data(proj_.bias),
                                      .residual = residual,
                                      .y = y};
  rows < kernels::kFewRows ? mlp_few_rows(arguments) : mlp_forward(arguments);
}

}  // namespace edelta::nn
