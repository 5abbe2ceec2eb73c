// Who multiplies libtorch's matrices, and whether as fast as this CPU can.
#pragma once

#include <optional>
#include <string>

namespace edelta::base {

struct Blas {
  std::string library;     // the file that libtorch's matrix products come from
  std::string name;        // "OpenBLAS …", "MKL", "BLIS", "ATLAS" or "reference BLAS"
  bool reference = false;  // the reference BLAS: some forty times slower

  std::string core;  // the CPU that OpenBLAS computes as for; empty where it is another BLAS

  // Where that CPU is an older one than this: what the environment variable OPENBLAS_CORETYPE
  // should say before the process starts; else empty. OpenBLAS up to 0.3.24 takes newer processors
  // of Intel (Xeons of the fifth generation, say) for Prescott, of 2004 (its issue 4267); the
  // environment can ask for any.
  std::string better_core;
  bool much_older_core = false;  // it has no AVX2: two to five times slower
};
Blas blas_in_use();

// One line with the remedy when the BLAS in use is several times slower than it could be.
std::optional<std::string> blas_warning();

// Also when it has AVX2 alone on a CPU with AVX-512: for those that measure, as a user may have
// chosen that, to have the same last bits on several machines.
std::optional<std::string> blas_warning_to_measure();

}  // namespace edelta::base
