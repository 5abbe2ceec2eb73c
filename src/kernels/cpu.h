// What the kernels find on this CPU.
#pragma once

#include <string>

namespace edelta::kernels {

// Each has what is before it.
enum class Isa { none, avx2, avx512 };

// The widest instruction set that the CPU has and the kernels are compiled for.
Isa isa_of_cpu();

// What the kernels use of it: the environment variable EDELTA_ISA (avx2, none) lowers it, for
// tests. `none`: the fused kernels can't run. All is made ready for them; libxsmm opens a file of
// its own for that.
Isa isa();
std::string isa_name();

// What libxsmm generates code for on this machine, for example "skx".
std::string gemm_target();

}  // namespace edelta::kernels
