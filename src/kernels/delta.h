// DDL's delta operator: y = x − β k (k·x) over the full width, |k| = 1.
#pragma once

#include <cstdint>

namespace edelta::kernels {

struct DeltaShape {
  int64_t batch;      // B
  int64_t tokens;     // T
  int64_t operators;  // 1 (one for the sequence) or T (one for each token)
  int64_t width;      // D
};

struct DeltaForward {
  DeltaShape shape;
  const float* x;     // [B, T, D]
  const float* k;     // [B, operators, D]
  const float* beta;  // [B, operators]
  float* y;           // [B, T, D]
};

struct DeltaBackward {
  DeltaShape shape;
  const float* x;     // [B, T, D]
  const float* k;     // [B, operators, D]
  const float* beta;  // [B, operators]
  const float* dy;    // [B, T, D]
  float* dx;          // [B, T, D], overwritten
  float* dk;          // [B, operators, D], overwritten
  float* dbeta;       // [B, operators], overwritten
};

void delta_forward(const DeltaForward& arguments);
void delta_backward(const DeltaBackward& arguments);

}  // namespace edelta::kernels
