#include "kernels/cpu.h"

#include <libxsmm.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace edelta::kernels {
namespace {

// libxsmm asks OpenMP to bind threads, by the environment: too late for this process, but all that
// it starts would share the first CPU.
void start_libxsmm() {
  static const bool started = [] {
    const bool given = std::getenv("OMP_PROC_BIND") != nullptr;
    libxsmm_init();
    if (!given) ::unsetenv("OMP_PROC_BIND");
    return true;
  }();
  static_cast<void>(started);
}

Isa detect() {
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  const bool avx512 =
      __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512cd") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
      __builtin_cpu_supports("avx512vl") != 0;
  if (!avx2) return Isa::none;
  return avx512 ? Isa::avx512 : Isa::avx2;
}

Isa most_allowed() {
  const char* variable = std::getenv("EDELTA_ISA");
  const std::string_view limit = variable != nullptr ? variable : "";
  return limit == "none" ? Isa::none : limit == "avx2" ? Isa::avx2 : Isa::avx512;
}

}  // namespace

Isa isa_of_cpu() {
  static const Isa found = detect();
  return found;
}

Isa isa() {
  static const Isa used = std::min(isa_of_cpu(), most_allowed());
  if (used != Isa::none) start_libxsmm();
  return used;
}

std::string isa_name() {
  switch (isa()) {
    case Isa::avx512:
      return "AVX-512";
    case Isa::avx2:
      return "AVX2";
    case Isa::none:
      break;
  }
  return "none";
}

std::string gemm_target() {
  start_libxsmm();
  return libxsmm_get_target_arch();
}

}  // namespace edelta::kernels
