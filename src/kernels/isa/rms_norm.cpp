#include "kernels/rms_norm.h"

#include "kernels/isa/parallel.h"
#include "kernels/isa/rms_row.h"
#include "kernels/isa/slices.h"

namespace edelta::kernels::EDELTA_ISA {

void rms_norm_forward(const RmsNormForward& a) {
  in_parallel(slice_count(a.tokens), [&](int64_t i) {
    const Slice slice(a.tokens, i);
    for (int64_t token = slice.begin; token < slice.end; ++token) {
      const float* x = a.x + token * a.width;
      const float rstd = inverse_rms(x, a.width, a.eps);
      scale_row(x, a.width, rstd, a.y + token * a.width);
      if (a.rstd != nullptr) a.rstd[token] = rstd;
    }
  });
}

void rms_norm_backward(const RmsNormBackward& a) {
  in_parallel(slice_count(a.tokens), [&](int64_t i) {
    const Slice slice(a.tokens, i);
    for (int64_t token = slice.begin; token < slice.end; ++token) {
      const int64_t at = token * a.width;
      inverse_rms_backward(a.y + at, a.rstd[token], a.dy + at, a.width, a.dx + at);
    }
  });
}

}  // namespace edelta::kernels::EDELTA_ISA
