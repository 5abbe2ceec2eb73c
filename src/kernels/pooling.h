// The mean over a sequence, or up to each position, which the generators of the residual operators
// look at.
#pragma once

#include <cstdint>

namespace edelta::kernels {

struct SequenceMeanForward {
  int64_t batch;   // B
  int64_t tokens;  // T
  int64_t width;   // D
  const float* x;  // [B, T, D]
  float* mean;     // [B, D]
};

struct SequenceMeanBackward {
  int64_t batch;
  int64_t tokens;
  int64_t width;
  const float* dmean;     // [B, D]
  const float* straight;  // [B, T, D] or null: what flows to x on other ways
  float* dx;              // [B, T, D], overwritten: straight + dmean/T
};

struct PrefixMeanForward {
  int64_t batch;
  int64_t tokens;
  int64_t width;
  const float* x;  // [B, T, D]
  float* mean;     // [B, T, D]: of positions ≤ t, summed in float64
};

struct PrefixMeanBackward {
  int64_t batch;
  int64_t tokens;
  int64_t width;
  const float* dmean;  // [B, T, D]
  float* dx;           // [B, T, D], overwritten: Σ_{s ≥ t} dmean_s/s
};

void sequence_mean_forward(const SequenceMeanForward& arguments);
void sequence_mean_backward(const SequenceMeanBackward& arguments);
void prefix_mean_forward(const PrefixMeanForward& arguments);
void prefix_mean_backward(const PrefixMeanBackward& arguments);

}  // namespace edelta::kernels
