// Who multiplies libtorch's matrices, and whether as fast as this CPU can.
#pragma once

#include <optional>
#include <string>

namespace edelta::base {

struct Blas {
  std::string library;     // the file that libtorch's matrix products come from
  std::string name;        // "OpenBLAS …", "MKL", "BLIS", "ATLAS" or "reference BLAS"
  bool reference = false;  // the reference BLAS: some forty times slower

  // OpenBLAS up to 0.3.24 takes newer processors of Intel (Xeons of the fifth generation, say) for
  // Prescott, of 2004: some five times slower (its issue 4267). Then, what the environment variable
  // OPENBLAS_CORETYPE should say before the process starts; else empty.
  std::string better_core;
};
Blas blas_in_use();

// One line with the remedy when the BLAS in use is a slow one.
std::optional<std::string> blas_warning();

}  // namespace edelta::base
