#include "kernels/hybrid.h"

#include <math.h>

#include "kernels/scratch.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

// One operator takes O(n²) operations: M has rank 2, so M x = h (u (w·x) − w (u·x)) with h = β/2
// and w the part of v that is orthogonal to u; and M, M² and k̂k̂ᵀ meet a gradient only in its
// products with u, w and k̂.

double dot(const double* a, const double* b, int64_t n) {
  double total = 0;
  for (int64_t i = 0; i < n; ++i) total += a[i] * b[i];
  return total;
}

void widen(const float* from, int64_t n, double* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = from[i];
}

double* doubles(Scratch& scratch, int64_t count) {
  return reinterpret_cast<double*>(scratch.floats(2 * count));
}

// Q = I − f (M − M²), f = 2/(1 + s).
struct Rotation {
  Rotation(const float* u_in, const float* v_in, float beta, int64_t streams, Scratch& scratch)
      : n(streams), h(beta / 2.0), u(doubles(scratch, streams)), w(doubles(scratch, streams)) {
    widen(u_in, n, u);
    widen(v_in, n, w);
    uu = dot(u, u, n);
    const double vv = dot(w, w, n);
    // One subtraction leaves an error along u of the size of v's rounding; a second removes it.
    for (int pass = 0; pass < 2 && uu > 0; ++pass) {
      const double c = dot(u, w, n) / uu;
      for (int64_t i = 0; i < n; ++i) w[i] -= c * u[i];
      along += c;
    }
    const double tolerance = 4 * __DBL_EPSILON__ * sqrt(static_cast<double>(n));
    if (sqrt(dot(w, w, n)) <= tolerance * sqrt(vv)) {
      for (int64_t i = 0; i < n; ++i) w[i] = 0;
    }
    ww = dot(w, w, n);
    uw = dot(u, w, n);
    f = 2 / (1 + h * h * (uu * ww - uw * uw));
  }

  // (M − M²)_ij
  double entry(int64_t i, int64_t j) const {
    const double square = uw * (u[i] * w[j] + w[i] * u[j]) - ww * u[i] * u[j] - uu * w[i] * w[j];
    return h * (u[i] * w[j] - w[i] * u[j]) - h * h * square;
  }

  int64_t n;
  double h;
  double *u, *w;
  double along = 0;  // w = v − along·u
  double uu, ww, uw;
  double f;
};

// k̂ = k/|k|, 0 for k = 0; scaled by the largest entry, so that no square overflows or vanishes.
struct Direction {
  Direction(const float* k_in, int64_t n, Scratch& scratch) : k(doubles(scratch, n)) {
    widen(k_in, n, k);
    double largest = 0;
    for (int64_t i = 0; i < n; ++i) largest = fabs(k[i]) > largest ? fabs(k[i]) : largest;
    if (largest == 0) return;
    for (int64_t i = 0; i < n; ++i) k[i] /= largest;
    const double length = sqrt(dot(k, k, n));
    for (int64_t i = 0; i < n; ++i) k[i] /= length;
    inverse_length = 1 / length / largest;
  }

  double* k;
  double inverse_length = 0;
};

// to = G x and transposed = Gᵀ x.
void products(const float* g, const double* x, int64_t n, double* to, double* transposed) {
  for (int64_t i = 0; i < n; ++i) to[i] = transposed[i] = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      to[i] += g[i * n + j] * x[j];
      transposed[j] += g[i * n + j] * x[i];
    }
  }
}

void forward(const HybridForward& a, int64_t index) {
  const int64_t n = a.streams;
  Scratch scratch;
  const Rotation q(a.u + index * n, a.v + index * n, a.beta[index], n, scratch);
  const Direction direction(a.k + index * n, n, scratch);
  const double gamma = a.gamma[index];
  float* g = a.g + index * n * n;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const double turned = -q.f * q.entry(i, j);
      const double reflected = -2 * direction.k[i] * direction.k[j];
      g[i * n + j] =
          static_cast<float>((i == j ? 1.0 : 0.0) + gamma * turned + (1 - gamma) * reflected);
    }
  }
}

// dk = (1 − γ) of the gradient through k̂; returns k̂ᵀ dG k̂.
double reflection_backward(const Direction& direction, const float* dg, double gamma, int64_t n,
                           float* dk) {
  Scratch scratch;
  double* through = doubles(scratch, n);
  double* transposed = doubles(scratch, n);
  products(dg, direction.k, n, through, transposed);
  const double along = dot(direction.k, through, n);
  for (int64_t i = 0; i < n; ++i) {
    const double dk_unit = -2 * (through[i] + transposed[i]) + 4 * along * direction.k[i];
    dk[i] = static_cast<float>((1 - gamma) * dk_unit * direction.inverse_length);
  }
  return along;
}

// What the gradient dG does to x = u or x = w: dG x, dGᵀ x and their products with u and w; and
// M x = a u + b w.
struct Image {
  Image(const Rotation& q, const float* dg, const double* x, Scratch& scratch)
      : g(doubles(scratch, q.n)),
        gt(doubles(scratch, q.n)),
        a(q.h * dot(q.w, x, q.n)),
        b(-q.h * dot(q.u, x, q.n)) {
    products(dg, x, q.n, g, gt);
    ug = dot(q.u, g, q.n), wg = dot(q.w, g, q.n);
    ugt = dot(q.u, gt, q.n), wgt = dot(q.w, gt, q.n);
  }
  double *g, *gt;
  double a, b;
  double ug, wg, ugt, wgt;
};

// The gradients of u, v, β through Q, scaled by γ; returns ⟨dG, M − M²⟩.
//
// With D the gradient at M, D = −f dG − f (dG M + M dG) + ds M, ds = −f'(s) ⟨dG, M − M²⟩, the
// gradients of u and w are h (D − Dᵀ) w and −h (D − Dᵀ) u, and that of h is u·D w − w·D u. `along`
// is no variable: M is the same for every v + c u.
double rotation_backward(const Rotation& q, const float* dg, double gamma, float* du, float* dv,
                         float* dbeta) {
  Scratch scratch;
  const Image of_u(q, dg, q.u, scratch), of_w(q, dg, q.w, scratch);
  const double with_m = q.h * (of_w.ug - of_u.wg);
  const double with_square =
      q.h * q.h * (q.uw * (of_w.ug + of_u.wg) - q.ww * of_u.ug - q.uu * of_w.wg);
  const double ds = q.f * q.f / 2 * (with_m - with_square);
  const auto m_times_x = [&](const Image& x, int64_t i) { return x.a * q.u[i] + x.b * q.w[i]; };
  const auto d_times_x = [&](const Image& x, int64_t i) {
    const double g_m_x = x.a * of_u.g[i] + x.b * of_w.g[i];
    const double m_g_x = q.h * (q.u[i] * x.wg - q.w[i] * x.ug);
    return -q.f * (x.g[i] + g_m_x + m_g_x) + ds * m_times_x(x, i);
  };
  const auto dt_times_x = [&](const Image& x, int64_t i) {
    const double gt_m_x = x.a * of_u.gt[i] + x.b * of_w.gt[i];
    const double m_gt_x = q.h * (q.u[i] * x.wgt - q.w[i] * x.ugt);
    return -q.f * (x.gt[i] - gt_m_x - m_gt_x) - ds * m_times_x(x, i);
  };
  double dh = 0;
  for (int64_t i = 0; i < q.n; ++i) {
    const double d_w = d_times_x(of_w, i), d_u = d_times_x(of_u, i);
    dh += q.u[i] * d_w - q.w[i] * d_u;
    const double dw = -q.h * (d_u - dt_times_x(of_u, i));
    du[i] = static_cast<float>(gamma * (q.h * (d_w - dt_times_x(of_w, i)) - q.along * dw));
    dv[i] = static_cast<float>(gamma * dw);
  }
  *dbeta = static_cast<float>(gamma * dh / 2);
  return with_m - with_square;
}

void backward(const HybridBackward& a, int64_t index) {
  const int64_t n = a.streams;
  Scratch scratch;
  const Rotation q(a.u + index * n, a.v + index * n, a.beta[index], n, scratch);
  const Direction direction(a.k + index * n, n, scratch);
  const double gamma = a.gamma[index];
  const float* dg = a.dg + index * n * n;
  const double with_rotation =
      rotation_backward(q, dg, gamma, a.du + index * n, a.dv + index * n, a.dbeta + index);
  const double with_reflection = reflection_backward(direction, dg, gamma, n, a.dk + index * n);
  a.dgamma[index] = static_cast<float>(2 * with_reflection - q.f * with_rotation);
}

}  // namespace

void hybrid_forward(const HybridForward& a) {
#pragma omp parallel for
  for (int64_t index = 0; index < a.operators; ++index) forward(a, index);
}

void hybrid_backward(const HybridBackward& a) {
#pragma omp parallel for
  for (int64_t index = 0; index < a.operators; ++index) backward(a, index);
}

}  // namespace edelta::kernels::EDELTA_ISA
