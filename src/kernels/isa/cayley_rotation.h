// The Cayley rotation of one operator, in closed form (specification 1.1).
//
// It takes O(n²) operations: M has rank 2, so M x = h (u (w·x) − w (u·x)) with h = β/2 and w the
// part of v that is orthogonal to u; and M and M² meet a gradient only in its products with u and
// w.
#pragma once

#include "kernels/isa/vectors64.h"

namespace edelta::kernels::EDELTA_ISA {

// u, and w = v − along·u orthogonal to it; 0 where v is parallel to u.
struct Plane {
  Plane(const float* u_in, const float* v_in, int64_t streams, Scratch& scratch)
      : n(streams), u(doubles(scratch, streams)), w(doubles(scratch, streams)) {
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
    if (sqrt(dot(w, w, n)) <= rounding_tolerance(n) * sqrt(vv)) {
      for (int64_t i = 0; i < n; ++i) w[i] = 0;
    }
  }

  int64_t n;
  double *u, *w;
  double along = 0;
  double uu;
};

// Q = I − f (M − M²), f = 2/(1 + s).
struct Rotation : Plane {
  Rotation(const float* u_in, const float* v_in, float beta, int64_t streams, Scratch& scratch)
      : Plane(u_in, v_in, streams, scratch), h(beta / 2.0) {
    ww = dot(w, w, n);
    uw = dot(u, w, n);
    f = 2 / (1 + h * h * (uu * ww - uw * uw));
  }

  // (M − M²)_ij
  double entry(int64_t i, int64_t j) const {
    const double square = uw * (u[i] * w[j] + w[i] * u[j]) - ww * u[i] * u[j] - uu * w[i] * w[j];
    return h * (u[i] * w[j] - w[i] * u[j]) - h * h * square;
  }

  void rotate(const double* x, double* to) const { rotate_by(h, x, to); }
  void rotate_back(const double* x, double* to) const { rotate_by(-h, x, to); }

  double h;
  double ww, uw;
  double f;

 private:
  // M x = a u + b w, M² x = a2 u + b2 w; −h in place of h gives Qᵀ.
  void rotate_by(double half_beta, const double* x, double* to) const {
    const double a = half_beta * dot(w, x, n), b = -half_beta * dot(u, x, n);
    const double a2 = half_beta * (a * uw + b * ww), b2 = -half_beta * (a * uu + b * uw);
    for (int64_t i = 0; i < n; ++i) to[i] = x[i] - f * ((a - a2) * u[i] + (b - b2) * w[i]);
  }
};

// What the gradient dG does to x = u or x = w: dG x, dGᵀ x and their products with u and w; and
// M x = a u + b w.
struct Image {
  template <class Entry>
  Image(const Rotation& q, const Entry* dg, const double* x, Scratch& scratch)
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
template <class Entry, class Gradient>
double rotation_backward(const Rotation& q, const Entry* dg, double gamma, Gradient* du,
                         Gradient* dv, Gradient* dbeta) {
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
    du[i] = static_cast<Gradient>(gamma * (q.h * (d_w - dt_times_x(of_w, i)) - q.along * dw));
    dv[i] = static_cast<Gradient>(gamma * dw);
  }
  *dbeta = static_cast<Gradient>(gamma * dh / 2);
  return with_m - with_square;
}

}  // namespace edelta::kernels::EDELTA_ISA
