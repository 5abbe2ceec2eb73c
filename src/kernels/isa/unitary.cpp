#include "kernels/unitary.h"

#include "kernels/isa/cayley_rotation.h"
#include "kernels/isa/complex.h"
#include "kernels/isa/direction.h"
#include "kernels/isa/parallel.h"
#include "kernels/isa/phase.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

// The gradient of a complex x is ∂/∂Re x + i ∂/∂Im x: a small step dx changes the loss by
// Re(dL* dx).

// Q = I + A u u* − B u w* + B w u* + C w w*, unitary. With h = β/2, w the part of v that is
// orthogonal to u and v − w = c u,
//   A = r (2ih Im c − h²|w|²),  B = r h,  C = −r h²|u|²,  r = 2/(1 + h²|u|²|w|² − 2ih|u|² Im c).
struct UnitaryRotation {
  UnitaryRotation(const float* u_in, const float* v_in, float beta, int64_t streams,
                  Scratch& scratch)
      : m(streams / 2),
        h(beta / 2.0),
        u(complexes(scratch, m)),
        v(complexes(scratch, m)),
        w(complexes(scratch, m)) {
    // A real multiple of u in v changes nothing; without it Im c does not cancel.
    const Plane plane(u_in, v_in, streams, scratch);
    along = plane.along;
    uu = plane.uu;
    join(plane.u, m, u);
    join(plane.w, m, v);
    join(plane.w, m, w);
    const double vv = dot(v, v, m).re;
    // Twice, as in Plane.
    for (int pass = 0; pass < 2 && uu > 0; ++pass) {
      const Complex part = 1 / uu * dot(u, w, m);
      for (int64_t j = 0; j < m; ++j) w[j] -= part * u[j];
      c += part;
    }
    if (sqrt(dot(w, w, m).re) <= rounding_tolerance(streams) * sqrt(vv)) {
      for (int64_t j = 0; j < m; ++j) w[j] = {0, 0};
    }
    ww = dot(w, w, m).re;
    // 2/(p − iq), written so that no square overflows.
    const double p = 1 + h * h * uu * ww, q = 2 * h * uu * c.im;
    r.re = 2 / (p + q * (q / p));
    r.im = r.re * (q / p);
    a = {-h * h * ww, 2 * h * c.im};
    A = r * a;
    B = h * r;
    C = -h * h * uu * r;
  }

  Complex entry(int64_t i, int64_t j) const {
    const Complex with_u = A * u[i] + B * w[i], with_w = C * w[i] - B * u[i];
    return Complex{i == j ? 1.0 : 0.0, 0} + with_u * conj(u[j]) + with_w * conj(w[j]);
  }

  // to = Q x
  void rotate(const Complex* x, Complex* to) const {
    const Complex ux = dot(u, x, m), wx = dot(w, x, m);
    add(x, A * ux - B * wx, B * ux + C * wx, to);
  }
  // to = Q* x
  void rotate_back(const Complex* x, Complex* to) const {
    const Complex ux = dot(u, x, m), wx = dot(w, x, m);
    add(x, conj(A) * ux + conj(B) * wx, conj(C) * wx - conj(B) * ux, to);
  }

  int64_t m;
  double h;
  Complex *u, *v, *w;  // v without its real multiple of u
  double along;        // that multiple
  double uu, ww;
  Complex c{0, 0};
  Complex r, a, A, B, C;

 private:
  void add(const Complex* x, Complex with_u, Complex with_w, Complex* to) const {
    for (int64_t j = 0; j < m; ++j) to[j] = x[j] + with_u * u[j] + with_w * w[j];
  }
};

// What the gradient dQ does to x = u or x = w.
struct ComplexImage {
  ComplexImage(const Complex* dq, const Complex* x, int64_t m, Scratch& scratch)
      : d(complexes(scratch, m)), dt(complexes(scratch, m)) {
    product(dq, x, m, d);
    adjoint_product(dq, x, m, dt);
  }
  Complex *d, *dt;  // dQ x, dQ* x
};

// The gradients of u and v, and that of β as the result, through Q.
double unitary_rotation_backward(const UnitaryRotation& q, const Complex* dq, Complex* du,
                                 Complex* dv) {
  const int64_t m = q.m;
  Scratch scratch;
  const ComplexImage of_u(dq, q.u, m, scratch), of_w(dq, q.w, m, scratch);
  const Complex dA = dot(q.u, of_u.d, m), dC = dot(q.w, of_w.d, m);
  const Complex dB = dot(q.w, of_u.d, m) - dot(q.u, of_w.d, m);
  // Through r = 2/δ, and through what r multiplies in A, B and C.
  const double h = q.h, uu = q.uu, ww = q.ww, y = q.c.im;
  const Complex dr = dA * conj(q.a) + h * dB - (h * h * uu) * dC;
  const Complex ddelta = -0.5 * (conj(q.r * q.r) * dr);
  const Complex da = conj(q.r) * dA, db = conj(q.r) * dB, dc = conj(q.r) * dC;
  const double dh = 2 * y * da.im - 2 * h * ww * da.re + db.re - 2 * h * uu * dc.re +
                    2 * h * uu * ww * ddelta.re - 2 * uu * y * ddelta.im;
  const double dy = 2 * h * (da.im - uu * ddelta.im);
  double duu = -h * h * dc.re + h * h * ww * ddelta.re - 2 * h * y * ddelta.im;
  const double dww = h * h * (uu * ddelta.re - da.re);

  Complex* dw = complexes(scratch, m);
  for (int64_t j = 0; j < m; ++j) {
    du[j] = conj(q.A) * of_u.d[j] + q.A * of_u.dt[j] - conj(q.B) * of_w.d[j] + q.B * of_w.dt[j];
    dw[j] = conj(q.B) * of_u.d[j] - q.B * of_u.dt[j] + conj(q.C) * of_w.d[j] + q.C * of_w.dt[j] +
            (2 * dww) * q.w[j];
  }
  // w = v − c u and c = z/|u|², z = u*v; v is without `along` times u, which is no variable.
  Complex dz{0, 0};
  if (uu > 0) {
    const Complex d_coefficient = Complex{0, dy} - dot(q.u, dw, m);
    duu -= (conj(d_coefficient) * q.c).re / uu;
    dz = 1 / uu * d_coefficient;
  }
  for (int64_t j = 0; j < m; ++j) {
    dv[j] = dw[j] + dz * q.u[j];
    du[j] += (2 * duu) * q.u[j] - conj(q.c) * dw[j] + conj(dz) * q.v[j] - q.along * dv[j];
  }
  return dh / 2;
}

// P_φ = I + (e^{iφ} − 1) k k*, and Q.
struct Unitary {
  template <class Arguments>
  Unitary(const Arguments& arguments, int64_t index, Scratch& scratch)
      : n(arguments.streams),
        m(n / 2),
        q(arguments.u + index * n, arguments.v + index * n, arguments.beta[index], n, scratch),
        direction(arguments.k + index * n, n, scratch),
        phase(arguments.gamma[index]),
        turn{phase.cosine_less_one, phase.sine},
        k(complexes(scratch, m)),
        k_back(complexes(scratch, m)) {
    join(direction.k, m, k);
    q.rotate_back(k, k_back);
  }

  int64_t n, m;
  UnitaryRotation q;
  Direction direction;
  Phase phase;
  Complex turn;  // e^{iφ} − 1
  Complex* k;
  Complex* k_back;  // Q*k
};

void forward(const HybridForward& arguments, int64_t index) {
  Scratch scratch;
  const Unitary p(arguments, index, scratch);
  float* g = arguments.g + index * p.n * p.n;
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.m; ++j) {
      const Complex entry = p.q.entry(i, j) + p.turn * p.k[i] * conj(p.k_back[j]);
      write_blocks(entry, i, j, p.n, g);
    }
  }
}

void backward(const HybridBackward& arguments, int64_t index) {
  Scratch scratch;
  const Unitary p(arguments, index, scratch);
  const int64_t n = p.n, m = p.m;
  const auto vector = [&] { return complexes(scratch, m); };
  Complex* dg = complexes(scratch, m * m);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      dg[i * m + j] = entry_gradient(arguments.dg + index * n * n, i, j, n);
    }
  }
  // F = dG Q* is the gradient at P_φ.
  Complex *dgt_k = vector(), *f_k = vector(), *ft_k = vector();
  adjoint_product(dg, p.k, m, dgt_k);
  product(dg, p.k_back, m, f_k);
  p.q.rotate(dgt_k, ft_k);

  const Complex dturn = dot(p.k, f_k, m);
  arguments.dgamma[index] = static_cast<float>(p.phase.backward(dturn.re, dturn.im));

  Complex* dk = vector();
  for (int64_t j = 0; j < m; ++j) dk[j] = conj(p.turn) * f_k[j] + p.turn * ft_k[j];
  double* parts = doubles(scratch, n);
  split(dk, m, parts);
  p.direction.backward(parts, n, arguments.dk + index * n);

  // The gradient at Q is P_φ* dG.
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < m; ++j) dg[i * m + j] += conj(p.turn) * p.k[i] * conj(dgt_k[j]);
  }
  Complex *du = vector(), *dv = vector();
  arguments.dbeta[index] = static_cast<float>(unitary_rotation_backward(p.q, dg, du, dv));
  split(du, m, parts);
  narrow(parts, n, arguments.du + index * n);
  split(dv, m, parts);
  narrow(parts, n, arguments.dv + index * n);
}

}  // namespace

void unitary_forward(const HybridForward& a) {
  in_parallel(a.operators, [&](int64_t index) { forward(a, index); });
}

void unitary_backward(const HybridBackward& a) {
#pragma omp parallel for
  for (int64_t index = 0; index < a.operators; ++index) backward(a, index);
}

}  // namespace edelta::kernels::EDELTA_ISA
