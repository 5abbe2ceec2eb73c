// For processors that have it.
#pragma once

namespace edelta::kernels {

float exp2_of_negative_avx512(float x);

}  // namespace edelta::kernels
