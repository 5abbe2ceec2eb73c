#include "kernels/geodesic.h"

#include "kernels/isa/cayley_rotation.h"
#include "kernels/isa/direction.h"
#include "kernels/isa/parallel.h"
#include "kernels/isa/phase.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

// a, the direction that R_φ turns k̂ towards: the unit part of u that is orthogonal to k̂. Where
// there is none, a basis direction takes its place, without a gradient.
struct Partner {
  Partner(const double* u_in, const Direction& direction, int64_t streams, Scratch& scratch)
      : n(streams), u(u_in), k(direction.k), a(doubles(scratch, streams)) {
    for (int64_t i = 0; i < n; ++i) a[i] = direction.is_zero() ? 0 : u[i];
    // Twice, as in Plane.
    for (int pass = 0; pass < 2; ++pass) along += remove_k();
    const double length = sqrt(dot(a, a, n));
    if (length > rounding_tolerance(n) * sqrt(dot(u, u, n))) {
      inverse_length = 1 / length;
      for (int64_t i = 0; i < n; ++i) a[i] *= inverse_length;
    } else if (!direction.is_zero()) {
      take_basis_direction();
    }
  }

  // Adds to the gradients of u and k̂ what comes through a.
  void backward(const double* da, double* du, double* dk) const {
    const double with_a = dot(a, da, n), with_k = dot(k, da, n) * inverse_length;
    for (int64_t i = 0; i < n; ++i) {
      const double through = (da[i] - with_a * a[i]) * inverse_length;
      du[i] += through - with_k * k[i];
      dk[i] -= along * through + with_k * u[i];
    }
  }

  int64_t n;
  const double *u, *k;
  double* a;
  double along = 0;           // k̂·u
  double inverse_length = 0;  // of that part of u

 private:
  double remove_k() {
    const double c = dot(k, a, n);
    for (int64_t i = 0; i < n; ++i) a[i] -= c * k[i];
    return c;
  }

  // The one with the smallest part along k̂; none where n = 1.
  void take_basis_direction() {
    int64_t smallest = 0;
    for (int64_t i = 1; i < n; ++i) {
      if (fabs(k[i]) < fabs(k[smallest])) smallest = i;
    }
    for (int64_t i = 0; i < n; ++i) a[i] = i == smallest && n > 1 ? 1 : 0;
    remove_k();
    const double length = sqrt(dot(a, a, n));
    for (int64_t i = 0; i < n && length > 0; ++i) a[i] /= length;
  }
};

// R_φ = I + (cos φ − 1)(k kᵀ + a aᵀ) + sin φ (a kᵀ − k aᵀ), and Q.
struct Geodesic {
  template <class Arguments>
  Geodesic(const Arguments& arguments, int64_t index, Scratch& scratch)
      : n(arguments.streams),
        q(arguments.u + index * n, arguments.v + index * n, arguments.beta[index], n, scratch),
        direction(arguments.k + index * n, n, scratch),
        partner(q.u, direction, n, scratch),
        phase(arguments.gamma[index]),
        k(direction.k),
        a(partner.a),
        k_back(doubles(scratch, n)),
        a_back(doubles(scratch, n)) {
    q.rotate_back(k, k_back);
    q.rotate_back(a, a_back);
  }

  // Row vectors that R_φ − I puts k and a in front of, for rows kᵀX and aᵀX of what it acts on.
  double with_k(double kx, double ax) const { return phase.cosine_less_one * kx - phase.sine * ax; }
  double with_a(double kx, double ax) const { return phase.cosine_less_one * ax + phase.sine * kx; }

  int64_t n;
  Rotation q;
  Direction direction;
  Partner partner;
  Phase phase;
  const double *k, *a;
  double *k_back, *a_back;  // Qᵀk, Qᵀa
};

void forward(const HybridForward& arguments, int64_t index) {
  Scratch scratch;
  const Geodesic r(arguments, index, scratch);
  float* g = arguments.g + index * r.n * r.n;
  for (int64_t i = 0; i < r.n; ++i) {
    for (int64_t j = 0; j < r.n; ++j) {
      const double rotated = (i == j ? 1.0 : 0.0) - r.q.f * r.q.entry(i, j);
      g[i * r.n + j] = static_cast<float>(rotated + r.k[i] * r.with_k(r.k_back[j], r.a_back[j]) +
                                          r.a[i] * r.with_a(r.k_back[j], r.a_back[j]));
    }
  }
}

// With F = dG Qᵀ the gradient at R_φ, those of k, a, cos φ and sin φ need its products with k and a
// alone; the gradient at Q is R_φᵀ dG.
void backward(const HybridBackward& arguments, int64_t index) {
  Scratch scratch;
  const Geodesic r(arguments, index, scratch);
  const int64_t n = r.n;
  const double *k = r.k, *a = r.a;
  const float* dg = arguments.dg + index * n * n;
  const auto vector = [&] { return doubles(scratch, n); };

  double *dgt_k = vector(), *dgt_a = vector();
  transposed_product(dg, k, n, dgt_k);
  transposed_product(dg, a, n, dgt_a);
  double *f_k = vector(), *f_a = vector(), *ft_k = vector(), *ft_a = vector();
  product(dg, r.k_back, n, f_k);
  product(dg, r.a_back, n, f_a);
  r.q.rotate(dgt_k, ft_k);
  r.q.rotate(dgt_a, ft_a);

  arguments.dgamma[index] = static_cast<float>(
      r.phase.backward(dot(k, f_k, n) + dot(a, f_a, n), dot(a, f_k, n) - dot(k, f_a, n)));

  double* dq = doubles(scratch, n * n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      // R_φᵀ is R_φ with k and a exchanged.
      dq[i * n + j] =
          dg[i * n + j] + k[i] * r.with_a(dgt_a[j], dgt_k[j]) + a[i] * r.with_k(dgt_a[j], dgt_k[j]);
    }
  }
  double *du = vector(), *dv = vector(), dbeta;
  rotation_backward(r.q, dq, 1.0, du, dv, &dbeta);

  double *dk = vector(), *da = vector();
  const double less = r.phase.cosine_less_one, sine = r.phase.sine;
  for (int64_t i = 0; i < n; ++i) {
    dk[i] = less * (f_k[i] + ft_k[i]) + sine * (ft_a[i] - f_a[i]);
    da[i] = less * (f_a[i] + ft_a[i]) + sine * (f_k[i] - ft_k[i]);
  }
  r.partner.backward(da, du, dk);
  r.direction.backward(dk, n, arguments.dk + index * n);
  narrow(du, n, arguments.du + index * n);
  narrow(dv, n, arguments.dv + index * n);
  arguments.dbeta[index] = static_cast<float>(dbeta);
}

}  // namespace

void geodesic_forward(const HybridForward& a) {
  in_parallel(a.operators, [&](int64_t index) { forward(a, index); });
}

void geodesic_backward(const HybridBackward& a) {
#pragma omp parallel for
  for (int64_t index = 0; index < a.operators; ++index) backward(a, index);
}

}  // namespace edelta::kernels::EDELTA_ISA
