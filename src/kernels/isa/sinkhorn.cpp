#include "edelta/kernels/token_operator.h"
#include "kernels/isa/token_lanes.h"
#include "kernels/isa/vector_exp.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

constexpr float kEpsilon = 1e-8F;  // added to every row and column sum

// The n×n matrices of a block of tokens, as rows (step n, entries 1 apart) or as columns.
struct Lines {
  int64_t between, within;
};

// What each division of each line divided by, and the reciprocal: division is the slowest
// instruction here, so the backward pass repeats none.
struct Divisors {
  Lanes *totals, *factors;
  Divisors from(int64_t at) const { return {totals + at, factors + at}; }
};

Divisors divisors(Scratch& scratch, int64_t count) {
  return {lanes(scratch, count), lanes(scratch, count)};
}

// Every line /= (its sum + ε).
template <int kStreams>
void normalise(Lanes* p, int64_t streams, Lines lines, Divisors divisors) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  for (int64_t i = 0; i < n; ++i) {
    Lanes* line = p + i * lines.between;
    Lanes total = Lanes{} + kEpsilon;
    for (int64_t j = 0; j < n; ++j) total += line[j * lines.within];
    const Lanes factor = 1.0F / total;
    divisors.totals[i] = total;
    divisors.factors[i] = factor;
    for (int64_t j = 0; j < n; ++j) line[j * lines.within] *= factor;
  }
}

// exp(Z) and the first division of the rows in one: exp(Z − m)/(Σ exp(Z − m) + ε·exp(−m)) is the
// same for any m, and the row's maximum keeps it from overflowing. The lower bound on m does so for
// exp(−m); there ε outweighs the whole row anyway.
template <int kStreams>
void exp_rows(Lanes* p, int64_t streams) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  for (int64_t i = 0; i < n; ++i) {
    Lanes* row = p + i * n;
    Lanes top = Lanes{} - 80.0F;
    for (int64_t j = 0; j < n; ++j) top = larger(top, row[j]);
    Lanes total = kEpsilon * vector_exp<Lanes>(-top);
    for (int64_t j = 0; j < n; ++j) {
      row[j] = vector_exp<Lanes>(row[j] - top);
      total += row[j];
    }
    const Lanes factor = 1.0F / total;
    for (int64_t j = 0; j < n; ++j) row[j] *= factor;
  }
}

// All iterations on p. The divisors lie at (2·iteration + column step)·n + line.
template <int kStreams>
void iterate(Lanes* p, int64_t streams, int64_t iterations, Divisors divisors) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  const Lines rows{n, 1}, columns{1, n};
  for (int64_t k = 0; k < iterations; ++k) {
    if (k == 0) {
      exp_rows<kStreams>(p, n);
    } else {
      normalise<kStreams>(p, n, rows, divisors.from(2 * k * n));
    }
    normalise<kStreams>(p, n, columns, divisors.from((2 * k + 1) * n));
  }
}

// Through one division of lines: out = a·f with f = 1/(Σa + ε), so da = f·(dout − Σ dout·out).
// Turns `d` from dout into da and `p` from out back into a, so that no earlier state has to be
// kept.
template <int kStreams>
void normalise_backward(Lanes* p, Lanes* d, int64_t streams, Lines lines, Divisors divisors) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  for (int64_t i = 0; i < n; ++i) {
    Lanes* p_line = p + i * lines.between;
    Lanes* d_line = d + i * lines.between;
    Lanes along{};
    for (int64_t j = 0; j < n; ++j) along += p_line[j * lines.within] * d_line[j * lines.within];
    const Lanes total = divisors.totals[i];
    const Lanes factor = divisors.factors[i];
    for (int64_t j = 0; j < n; ++j) {
      d_line[j * lines.within] = factor * (d_line[j * lines.within] - along);
      p_line[j * lines.within] *= total;
    }
  }
}

// Through exp_rows: dz = out·(dout − Σ dout·out) along the row.
template <int kStreams>
void exp_rows_backward(const Lanes* p, Lanes* d, int64_t streams) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  for (int64_t i = 0; i < n; ++i) {
    Lanes along{};
    for (int64_t j = 0; j < n; ++j) along += p[i * n + j] * d[i * n + j];
    for (int64_t j = 0; j < n; ++j) d[i * n + j] = p[i * n + j] * (d[i * n + j] - along);
  }
}

template <int kStreams>
void iterate_backward(Lanes* p, Lanes* d, int64_t streams, int64_t iterations, Divisors divisors) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  const Lines rows{n, 1}, columns{1, n};
  for (int64_t k = iterations - 1; k >= 0; --k) {
    normalise_backward<kStreams>(p, d, n, columns, divisors.from((2 * k + 1) * n));
    if (k == 0) {
      exp_rows_backward<kStreams>(p, d, n);
    } else {
      normalise_backward<kStreams>(p, d, n, rows, divisors.from(2 * k * n));
    }
  }
}

}  // namespace

void sinkhorn_forward(const SinkhornForward& a) {
  const int64_t n = a.shape.streams;
  for_token_blocks(a.shape, [&]<int kStreams>(int64_t first, int64_t tokens) {
    Scratch scratch;
    Lanes* p = lanes(scratch, n * n);
    const Divisors used = divisors(scratch, 2 * a.iterations * n);
    load_tokens(a.z + first * a.shape.stride, a.shape.stride, tokens, n * n, p);
    iterate<kStreams>(p, n, a.iterations, used);
    store_tokens(p, tokens, n * n, a.h + first * n * n, n * n);
  });
}

void sinkhorn_backward(const SinkhornBackward& a) {
  const int64_t n = a.shape.streams;
  for_token_blocks(a.shape, [&]<int kStreams>(int64_t first, int64_t tokens) {
    Scratch scratch;
    Lanes* p = lanes(scratch, n * n);
    Lanes* d = lanes(scratch, n * n);
    const Divisors used = divisors(scratch, 2 * a.iterations * n);
    load_tokens(a.z + first * a.shape.stride, a.shape.stride, tokens, n * n, p);
    load_tokens(a.dh + first * n * n, n * n, tokens, n * n, d);
    iterate<kStreams>(p, n, a.iterations, used);
    iterate_backward<kStreams>(p, d, n, a.iterations, used);
    store_tokens(d, tokens, n * n, a.dz + first * a.shape.stride, a.shape.stride);
  });
}

}  // namespace edelta::kernels::EDELTA_ISA
