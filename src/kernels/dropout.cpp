#include "kernels/dropout.h"

#include <algorithm>
#include <cmath>

#include "kernels/philox.h"

namespace edelta::kernels {

DropoutMask dropout_mask(double probability, uint64_t key, uint32_t site) {
  constexpr double kSteps = 65536;
  const double threshold = std::clamp(std::round(probability * kSteps), 0.0, kSteps - 1);
  DropoutMask mask;
  mask.threshold = static_cast<uint32_t>(threshold);
  mask.scale = static_cast<float>(kSteps / (kSteps - threshold));
  mask.key = key;
  mask.site = site;
  return mask;
}

void dropout_factors(const DropoutMask& mask, int64_t plane, int64_t row, int64_t columns,
                     float* factors) {
  const int64_t begin = mask.first_column, end = begin + columns;
  for (int64_t block = begin / kDropoutBlock; block * kDropoutBlock < end; ++block) {
    const PhiloxWords<uint32_t> bits = philox4x32<uint32_t>(
        {{static_cast<uint32_t>(block), static_cast<uint32_t>(row),
          static_cast<uint32_t>(plane + mask.first_plane), mask.site}},
        static_cast<uint32_t>(mask.key), static_cast<uint32_t>(mask.key >> 32), WordProduct());
    const int64_t first = block * kDropoutBlock;
    for (int64_t at = std::max(first, begin); at < std::min(first + kDropoutBlock, end); ++at) {
      const int64_t i = at - first;
      const uint32_t own = bits.word[i / 2] >> (i % 2 * 16) & 0xFFFF;
      factors[at - begin] = own < mask.threshold ? 0 : mask.scale;
    }
  }
}

}  // namespace edelta::kernels
