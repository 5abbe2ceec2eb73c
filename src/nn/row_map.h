// Linear maps and nets for rows in plain memory: what decoding multiplies with.
#pragma once

#include "edelta/torch.h"

#include <cstdint>

#include "edelta/ops/linear.h"

namespace edelta::nn {

// Norm and map as pointers, with the tensors that own the memory.
struct PlainAffine {
  PlainAffine(const ops::Norm& norm, const ops::Affine& map);

  torch::Tensor norm_weight, norm_bias, weight, bias;
  bool rms;
  float eps;

  int64_t in() const { return weight.size(1); }
  int64_t out() const { return weight.size(0); }
};

// residual + W LN(x) + b.
class RowMap {
 public:
  RowMap(const ops::Norm& norm, const ops::Affine& map) : map_(norm, map) {}

  int64_t in() const { return map_.in(); }
  int64_t out() const { return map_.out(); }
  // x [rows, in] → y [rows, out]; the residual may be null, or y itself.
  void operator()(int64_t rows, const float* x, float* y, const float* residual = nullptr) const;

 private:
  PlainAffine map_;
};

// residual + W_proj GELU(W_fc LN(x) + b_fc) + b_proj.
class RowNet {
 public:
  RowNet(const ops::Norm& norm, const ops::Affine& fc, const ops::Affine& proj)
      : fc_(norm, fc), proj_({}, proj) {}

  int64_t out() const { return proj_.out(); }
  void operator()(int64_t rows, const float* x, float* y, const float* residual = nullptr) const;

 private:
  PlainAffine fc_, proj_;
};

}  // namespace edelta::nn
