#include "kernels/sinkhorn.h"
#include "kernels/isa/token_lanes.h"
#include "kernels/isa/vector_exp.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

constexpr float kEpsilon = 1e-8F;  // added to every row and column sum

// The n×n matrices of a block of tokens, as rows (step n, entries 1 apart) or as columns.
struct Lines {
  int64_t between, within;
};

// Every line /= (its sum + ε); what each was divided by goes to `totals`.
template <int kStreams>
void normalise(Lanes* p, int64_t streams, Lines lines, Lanes* totals) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  for (int64_t i = 0; i < n; ++i) {
    Lanes* line = p + i * lines.between;
    Lanes total = Lanes{} + kEpsilon;
    for (int64_t j = 0; j < n; ++j) total += line[j * lines.within];
    const Lanes factor = 1.0F / total;
    totals[i] = total;
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

// All iterations on p. The totals lie at (2·iteration + column step)·n + line.
template <int kStreams>
void iterate(Lanes* p, int64_t streams, int64_t iterations, Lanes* totals) {
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
template <int kStreams>
void normalise_backward(const Lanes* p, Lanes* lambda, int64_t streams, Lines lines) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  for (int64_t i = 0; i < n; ++i) {
    const Lanes* p_line = p + i * lines.between;
    Lanes* lambda_line = lambda + i * lines.between;
    Lanes total{};
    for (int64_t j = 0; j < n; ++j) total += lambda_line[j * lines.within];
    for (int64_t j = 0; j < n; ++j)
      lambda_line[j * lines.within] -= p_line[j * lines.within] * total;
  }
}

// Turns p from the result of a division back into what was divided, so that no earlier state has to
// be kept.
template <int kStreams>
void undo_normalise(Lanes* p, int64_t streams, Lines lines, const Lanes* totals) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) p[i * lines.between + j * lines.within] *= totals[i];
  }
}

// `lambda` starts as the gradient of ln of the result and ends as that of Z.
template <int kStreams>
void iterate_backward(Lanes* p, Lanes* lambda, int64_t streams, int64_t iterations,
                      const Lanes* totals) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  const Lines rows{n, 1}, columns{1, n};
  for (int64_t k = iterations - 1; k >= 0; --k) {
    normalise_backward<kStreams>(p, lambda, n, columns);
    undo_normalise<kStreams>(p, n, columns, totals + (2 * k + 1) * n);
    normalise_backward<kStreams>(p, lambda, n, rows);
    if (k > 0) undo_normalise<kStreams>(p, n, rows, totals + 2 * k * n);
  }
}

}  // namespace

void sinkhorn_forward(const SinkhornForward& a) {
  const int64_t n = a.shape.streams;
  for_token_blocks(a.shape, [&]<int kStreams>(int64_t first, int64_t tokens) {
    Scratch scratch;
    Lanes* p = lanes(scratch, n * n);
    Lanes* totals = lanes(scratch, 2 * a.iterations * n);
    load_tokens(a.z + first * a.shape.stride, a.shape.stride, tokens, n * n, p);
    iterate<kStreams>(p, n, a.iterations, totals);
    store_tokens(p, tokens, n * n, a.h + first * n * n, n * n);
  });
}

void sinkhorn_backward(const SinkhornBackward& a) {
  const int64_t n = a.shape.streams;
  for_token_blocks(a.shape, [&]<int kStreams>(int64_t first, int64_t tokens) {
    Scratch scratch;
    Lanes* p = lanes(scratch, n * n);
    Lanes* lambda = lanes(scratch, n * n);
    Lanes* totals = lanes(scratch, 2 * a.iterations * n);
    load_tokens(a.z + first * a.shape.stride, a.shape.stride, tokens, n * n, p);
    load_tokens(a.dh + first * n * n, n * n, tokens, n * n, lambda);
    iterate<kStreams>(p, n, a.iterations, totals);
    for (int64_t i = 0; i < n * n; ++i) lambda[i] *= p[i];
    iterate_backward<kStreams>(p, lambda, n, a.iterations, totals);
    store_tokens(lambda, tokens, n * n, a.dz + first * a.shape.stride, a.shape.stride);
  });
}

}  // namespace edelta::kernels::EDELTA_ISA
