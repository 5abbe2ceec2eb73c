#include "kernels/dropout.h"

#include <algorithm>
#include <cmath>

#include "kernels/philox.h"

namespace edelta::kernels {

DropoutMask dropout_mask(double probability, uint64_t key, uint32_t site) {
  constexpr double kSteps = 65536;
  const double threshold = std::clamp(std::round(probability * kSteps), 0.0, kSteps - 1);
  return {static_cast<uint32_t>(threshold), static_cast<float>(kSteps / (kSteps - threshold)), key,
          site};
}

void dropout_factors(const DropoutMask& mask, int64_t plane, int64_t row, int64_t columns,
                     float* factors) {
  for (int64_t first = 0; first < columns; first += kDropoutBlock) {
    const PhiloxWords<uint32_t> bits = philox4x32<uint32_t>(
        {{static_cast<uint32_t>(first / kDropoutBlock), static_cast<uint32_t>(row),
          static_cast<uint32_t>(plane), mask.site}},
        static_cast<uint32_t>(mask.key), static_cast<uint32_t>(mask.key >> 32), WordProduct());
    for (int64_t i = 0; i < std::min(kDropoutBlock, columns - first); ++i) {
      const uint32_t own = bits.word[i / 2] >> (i % 2 * 16) & 0xFFFF;
      factors[first + i] = own < mask.threshold ? 0 : mask.scale;
    }
  }
}

}  // namespace edelta::kernels
