// Elementary functions that give the same bits on every machine.
//
// A C library is free in the last bit of log, sin and cos, and glibc's differ between processors
// with and without FMA. These use only +, −, ×, ÷ and exact scaling, which IEEE 754 rounds in one
// way; the library is compiled with -ffp-contract=off so that no product and sum are fused.
#pragma once

namespace edelta::base {

// x > 0, finite and normal; relative error below 1e-15.
double portable_log(double x);

struct SinCos {
  double sin;
  double cos;
};

// |x| ≤ 7; absolute error below 1e-15.
SinCos portable_sincos(double x);

}  // namespace edelta::base
