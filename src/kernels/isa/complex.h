// Complex numbers and short vectors of them. Products of std::complex check for infinities, which
// costs a call each.
#pragma once

#include <cstdint>

#include "kernels/scratch.h"

namespace edelta::kernels::EDELTA_ISA {

struct Complex {
  double re, im;
};

inline Complex conj(Complex a) { return {a.re, -a.im}; }
inline Complex operator-(Complex a) { return {-a.re, -a.im}; }
inline Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
inline Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
inline Complex operator*(double a, Complex b) { return {a * b.re, a * b.im}; }
inline Complex operator*(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
inline Complex& operator+=(Complex& a, Complex b) { return a = a + b; }
inline Complex& operator-=(Complex& a, Complex b) { return a = a - b; }

// a* b
inline Complex dot(const Complex* a, const Complex* b, int64_t m) {
  Complex total{0, 0};
  for (int64_t j = 0; j < m; ++j) total += conj(a[j]) * b[j];
  return total;
}

inline Complex* complexes(Scratch& scratch, int64_t count) {
  return reinterpret_cast<Complex*>(scratch.floats(4 * count));
}

// Numbers 2j and 2j + 1 are the parts of entry j.
template <class Real>
void join(const Real* parts, int64_t m, Complex* to) {
  for (int64_t j = 0; j < m; ++j) to[j] = {parts[2 * j], parts[2 * j + 1]};
}

inline void split(const Complex* from, int64_t m, double* parts) {
  for (int64_t j = 0; j < m; ++j) {
    parts[2 * j] = from[j].re;
    parts[2 * j + 1] = from[j].im;
  }
}

// A complex matrix as the real one that does the same to these parts: a + ib is [[a, −b], [b, a]].
inline void write_blocks(Complex entry, int64_t i, int64_t j, int64_t n, float* real) {
  real[2 * i * n + 2 * j] = real[(2 * i + 1) * n + 2 * j + 1] = static_cast<float>(entry.re);
  real[(2 * i + 1) * n + 2 * j] = static_cast<float>(entry.im);
  real[2 * i * n + 2 * j + 1] = static_cast<float>(-entry.im);
}

// ∂/∂a + i ∂/∂b of an entry a + ib, from the gradient of the real matrix.
inline Complex entry_gradient(const float* real, int64_t i, int64_t j, int64_t n) {
  const auto at = [&](int64_t row, int64_t column) {
    return static_cast<double>(real[(2 * i + row) * n + 2 * j + column]);
  };
  return {at(0, 0) + at(1, 1), at(1, 0) - at(0, 1)};
}

// to = E x
inline void product(const Complex* e, const Complex* x, int64_t m, Complex* to) {
  for (int64_t i = 0; i < m; ++i) {
    to[i] = {0, 0};
    for (int64_t j = 0; j < m; ++j) to[i] += e[i * m + j] * x[j];
  }
}

// to = E* x
inline void adjoint_product(const Complex* e, const Complex* x, int64_t m, Complex* to) {
  for (int64_t j = 0; j < m; ++j) to[j] = {0, 0};
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < m; ++j) to[j] += conj(e[i * m + j]) * x[i];
  }
}

}  // namespace edelta::kernels::EDELTA_ISA
