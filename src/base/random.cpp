#include "base/random.h"

#include <cmath>

#include "base/portable_math.h"
#include "kernels/philox.h"

namespace edelta::base {

PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
  const auto words = kernels::philox4x32<std::uint32_t>(
      {{counter[0], counter[1], counter[2], counter[3]}}, key[0], key[1], kernels::WordProduct());
  return {words.word[0], words.word[1], words.word[2], words.word[3]};
}

RandomStream::RandomStream(std::uint64_t seed, Stream stream, std::uint64_t index)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      counter_{0, static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
               static_cast<std::uint32_t>(stream)} {}

std::uint32_t RandomStream::bits() {
  if (used_ == block_.size()) {
    block_ = philox4x32(counter_, key_);
    ++counter_[0];
    used_ = 0;
  }
  return block_[used_++];
}

double RandomStream::uniform() {
  const std::uint64_t high = bits();
  const std::uint64_t word = high << 32 | bits();
  return static_cast<double>(word >> 11) * 0x1p-53;
}

std::uint32_t RandomStream::below(std::uint32_t bound) {
  const std::uint32_t surplus = -bound % bound;  // 2³² mod bound
  std::uint64_t product;
  do {
    product = std::uint64_t{bits()} * bound;
  } while (static_cast<std::uint32_t>(product) < surplus);
  return static_cast<std::uint32_t>(product >> 32);
}

std::uint64_t RandomStream::below64(std::uint64_t bound) {
  const std::uint64_t surplus = -bound % bound;  // 2⁶⁴ mod bound
  unsigned __int128 product;
  do {
    const std::uint64_t high = bits();
    product = static_cast<unsigned __int128>(high << 32 | bits()) * bound;
  } while (static_cast<std::uint64_t>(product) < surplus);
  return static_cast<std::uint64_t>(product >> 64);
}

double RandomStream::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  constexpr double kTwoPi = 6.28318530717958647693;
  const double radius = std::sqrt(-2 * portable_log(1 - uniform()));
  const SinCos direction = portable_sincos(kTwoPi * uniform());
  spare_ = radius * direction.sin;
  has_spare_ = true;
  return radius * direction.cos;
}

}  // namespace edelta::base
