// The machine's limit: fused multiply-adds from registers, nothing else.
#pragma once

namespace edelta::kernels {

struct FmaPeak {
  double seconds = 0.1;      // how long to measure
  double* gflops = nullptr;  // out: float32, all OpenMP threads together
};

// Measures the float32 FMA rate in GFLOP/s over all OpenMP threads.
void fma_peak(const FmaPeak& request);

}  // namespace edelta::kernels
