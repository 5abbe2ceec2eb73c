#include "kernels/sinkhorn.h"

#include <cmath>

#include "kernels/isa/token_lanes.h"
#include "kernels/isa/vector_exp.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

// All of it is computed in float32 for a block of tokens at once (Number = Lanes), or in float64
// for one token (Number = double) where its logits lie too far apart for float32's exponentials: an
// entry that is 0 at first stays so, though the iteration would have brought it back.

constexpr float kEpsilon = 1e-8F;  // added to every row and column sum

inline Lanes exponential(Lanes x) { return vector_exp<Lanes>(x); }
inline double exponential(double x) { return std::exp(x); }

// How far below the largest of a row the logits may lie, and how far below 0 that is looked for.
template <typename Number>
constexpr float kRange = sizeof(Number) == sizeof(double) ? 700.0F : 80.0F;

// The n×n matrices of a block of tokens, as rows (step n, entries 1 apart) or as columns.
struct Lines {
  int64_t between, within;
};

// Every line /= (its sum + ε); what each was divided by goes to `totals`.
template <int kStreams, typename Number>
void normalise(Number* p, int64_t streams, Lines lines, Number* totals) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  for (int64_t i = 0; i < n; ++i) {
    Number* line = p + i * lines.between;
    Number total = Number{} + kEpsilon;
    for (int64_t j = 0; j < n; ++j) total += line[j * lines.within];
    const Number factor = 1.0F / total;
    totals[i] = total;
    for (int64_t j = 0; j < n; ++j) line[j * lines.within] *= factor;
  }
}

// The maximum of a row of n, or a lower bound.
template <typename Number>
Number largest_of_row(const Number* row, int64_t n) {
  Number top = Number{} - kRange<Number>;
  for (int64_t j = 0; j < n; ++j) top = larger(top, row[j]);
  return top;
}

// Whether float32 has all entries after the first division, which are e^z over the row's sum, or
// over ε where that outweighs it.
template <int kStreams>
bool are_near(const Lanes* z, int64_t streams) {
  constexpr float kLogEpsilon = -18.42F;
  const int64_t n = kStreams > 0 ? kStreams : streams;
  Lanes farthest{};
  for (int64_t i = 0; i < n; ++i) {
    const Lanes* row = z + i * n;
    const Lanes top = larger(largest_of_row(row, n), Lanes{} + kLogEpsilon);
    for (int64_t j = 0; j < n; ++j) farthest = larger(top - row[j], farthest);
  }
  return largest(farthest) <= kRange<Lanes>;
}

// exp(Z) and the first division of the rows in one: exp(Z − m)/(Σ exp(Z − m) + ε·exp(−m)) is the
// same for any m, and the row's maximum keeps it from overflowing. The lower bound on m does so for
// exp(−m); there ε outweighs the whole row anyway.
template <int kStreams, typename Number>
void exp_rows(Number* p, int64_t streams) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  for (int64_t i = 0; i < n; ++i) {
    Number* row = p + i * n;
    const Number top = largest_of_row(row, n);
    Number total = kEpsilon * exponential(-top);
    for (int64_t j = 0; j < n; ++j) {
      row[j] = exponential(row[j] - top);
      total += row[j];
    }
    const Number factor = 1.0F / total;
    for (int64_t j = 0; j < n; ++j) row[j] *= factor;
  }
}

// All iterations on p. The totals lie at (2·iteration + column step)·n + line.
template <int kStreams, typename Number>
void iterate(Number* p, int64_t streams, int64_t iterations, Number* totals) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  const Lines rows{n, 1}, columns{1, n};
  for (int64_t k = 0; k < iterations; ++k) {
    if (k == 0) {
      exp_rows<kStreams>(p, n);
    } else {
      normalise<kStreams>(p, n, rows, totals + 2 * k * n);
    }
    normalise<kStreams>(p, n, columns, totals + (2 * k + 1) * n);
  }
}

// Through one division of lines, on the gradient λ of ln p: ln out = ln a − ln(Σa + ε), so
// λ_a = λ_out − out·Σ λ_out. Nothing is divided by: where a line has underflowed, the gradient of p
// itself would grow by 1/ε with every iteration.
template <int kStreams, typename Number>
void normalise_backward(const Number* p, Number* lambda, int64_t streams, Lines lines) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  for (int64_t i = 0; i < n; ++i) {
    const Number* p_line = p + i * lines.between;
    Number* lambda_line = lambda + i * lines.between;
    Number total{};
    for (int64_t j = 0; j < n; ++j) total += lambda_line[j * lines.within];
    for (int64_t j = 0; j < n; ++j)
      lambda_line[j * lines.within] -= p_line[j * lines.within] * total;
  }
}

// Turns p from the result of a division back into what was divided, so that no earlier state has to
// be kept.
template <int kStreams, typename Number>
void undo_normalise(Number* p, int64_t streams, Lines lines, const Number* totals) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) p[i * lines.between + j * lines.within] *= totals[i];
  }
}

// `lambda` starts as the gradient of ln of the result and ends as that of Z.
template <int kStreams, typename Number>
void iterate_backward(Number* p, Number* lambda, int64_t streams, int64_t iterations,
                      const Number* totals) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  const Lines rows{n, 1}, columns{1, n};
  for (int64_t k = iterations - 1; k >= 0; --k) {
    normalise_backward<kStreams>(p, lambda, n, columns);
    undo_normalise<kStreams>(p, n, columns, totals + (2 * k + 1) * n);
    normalise_backward<kStreams>(p, lambda, n, rows);
    if (k > 0) undo_normalise<kStreams>(p, n, rows, totals + 2 * k * n);
  }
}

// Z of one token, or of a block, and the gradient λ of ln of the result.
template <int kStreams, typename Number>
void differentiate(Number* p, Number* lambda, int64_t streams, int64_t iterations, Number* totals) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  iterate<kStreams>(p, n, iterations, totals);
  for (int64_t i = 0; i < n * n; ++i) lambda[i] *= p[i];
  iterate_backward<kStreams>(p, lambda, n, iterations, totals);
}

double* doubles(Scratch& scratch, int64_t count) {
  return reinterpret_cast<double*>(scratch.floats(2 * count));
}

void widen(const float* from, int64_t count, double* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = from[i];
}

void narrow(const double* from, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

}  // namespace

void sinkhorn_forward(const SinkhornForward& a) {
  const int64_t n = a.shape.streams, entries = n * n;
  for_token_blocks(a.shape, [&]<int kStreams>(int64_t first, int64_t tokens) {
    Scratch scratch;
    const float* z = a.z + first * a.shape.stride;
    float* h = a.h + first * entries;
    Lanes* p = lanes(scratch, entries);
    load_tokens(z, a.shape.stride, tokens, entries, p);
    if (are_near<kStreams>(p, n)) {
      iterate<kStreams>(p, n, a.iterations, lanes(scratch, 2 * a.iterations * n));
      return store_tokens(p, tokens, entries, h, entries);
    }
    double* wide = doubles(scratch, entries);
    double* totals = doubles(scratch, 2 * a.iterations * n);
    for (int64_t token = 0; token < tokens; ++token) {
      widen(z + token * a.shape.stride, entries, wide);
      iterate<kStreams>(wide, n, a.iterations, totals);
      narrow(wide, entries, h + token * entries);
    }
  });
}

void sinkhorn_backward(const SinkhornBackward& a) {
  const int64_t n = a.shape.streams, entries = n * n, stride = a.shape.stride;
  for_token_blocks(a.shape, [&]<int kStreams>(int64_t first, int64_t tokens) {
    Scratch scratch;
    const float *z = a.z + first * stride, *dh = a.dh + first * entries;
    float* dz = a.dz + first * stride;
    Lanes* p = lanes(scratch, entries);
    load_tokens(z, stride, tokens, entries, p);
    if (are_near<kStreams>(p, n)) {
      Lanes* lambda = lanes(scratch, entries);
      load_tokens(dh, entries, tokens, entries, lambda);
      differentiate<kStreams>(p, lambda, n, a.iterations, lanes(scratch, 2 * a.iterations * n));
      return store_tokens(lambda, tokens, entries, dz, stride);
    }
    double* wide = doubles(scratch, entries);
    double* lambda = doubles(scratch, entries);
    double* totals = doubles(scratch, 2 * a.iterations * n);
    for (int64_t token = 0; token < tokens; ++token) {
      widen(z + token * stride, entries, wide);
      widen(dh + token * entries, entries, lambda);
      differentiate<kStreams>(wide, lambda, n, a.iterations, totals);
      narrow(lambda, entries, dz + token * stride);
    }
  });
}

}  // namespace edelta::kernels::EDELTA_ISA
