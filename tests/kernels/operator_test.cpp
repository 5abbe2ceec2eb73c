// The operators that a connection puts around its sub-layer, and the mean that they look at.
#include <array>
#include <complex>
#include <numbers>

#include "kernels/close.h"
#include "kernels/delta.h"
#include "kernels/geodesic.h"
#include "kernels/hybrid.h"
#include "kernels/pooling.h"
#include "kernels/unitary.h"

namespace edelta::kernels {
namespace {

using Values = std::vector<double>;

void check_sequence_mean(int64_t batch, int64_t tokens, int64_t width) {
  const int64_t count = batch * tokens * width;
  const auto x = random_values(count, 1), other = random_values(count, 2);
  const auto dmean = random_values(batch * width, 3);
  Values mean_ref(batch * width), dx_ref(count), alone_ref(count);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = i / (tokens * width) * width + i % width;
    mean_ref[at] += static_cast<double>(x[i]) / static_cast<double>(tokens);
    alone_ref[i] = static_cast<double>(dmean[at]) / static_cast<double>(tokens);
    dx_ref[i] = alone_ref[i] + other[i];
  }
  with_threads([&] {
    auto mean = unwritten(batch * width), dx = unwritten(count), alone = unwritten(count);
    sequence_mean_forward({batch, tokens, width, x.data(), mean.data()});
    sequence_mean_backward({batch, tokens, width, dmean.data(), other.data(), dx.data()});
    sequence_mean_backward({batch, tokens, width, dmean.data(), nullptr, alone.data()});
    expect_close(mean, mean_ref, kValueTolerance, "mean");
    expect_close(dx, dx_ref, kGradientTolerance, "dx");
    expect_close(alone, alone_ref, kGradientTolerance, "dx without other ways");
  });
}

TEST(SequenceMean, MatchesTheDefinition) {
  for (const auto [batch, tokens, width] :
       {std::array<int64_t, 3>{1, 1, 1}, {3, 7, 5}, {2, 65, 20}, {1, 200, 33}, {5, 64, 128}}) {
    SCOPED_TRACE(testing::Message() << batch << " × " << tokens << " × " << width);
    check_sequence_mean(batch, tokens, width);
  }
}

void check_prefix_mean(int64_t batch, int64_t tokens, int64_t width) {
  const int64_t count = batch * tokens * width;
  const auto x = random_values(count, 1), dmean = random_values(count, 2);
  Values mean_ref(count), dx_ref(count);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t t = i / width % tokens;
    // Position t is in the means of t and all after it.
    for (int64_t s = t; s < tokens; ++s) {
      const int64_t later = i + (s - t) * width;
      mean_ref[later] += static_cast<double>(x[i]) / static_cast<double>(s + 1);
      dx_ref[i] += static_cast<double>(dmean[later]) / static_cast<double>(s + 1);
    }
  }
  with_threads([&] {
    auto mean = unwritten(count), dx = unwritten(count);
    prefix_mean_forward({batch, tokens, width, x.data(), mean.data()});
    prefix_mean_backward({batch, tokens, width, dmean.data(), dx.data()});
    expect_close(mean, mean_ref, kValueTolerance, "mean");
    expect_close(dx, dx_ref, kGradientTolerance, "dx");
  });
}

TEST(PrefixMean, MatchesTheDefinition) {
  for (const auto [batch, tokens, width] :
       {std::array<int64_t, 3>{1, 1, 1}, {3, 7, 5}, {2, 65, 20}, {1, 50, 133}, {5, 64, 128}}) {
    SCOPED_TRACE(testing::Message() << batch << " × " << tokens << " × " << width);
    check_prefix_mean(batch, tokens, width);
  }
}

struct DeltaReference {
  DeltaReference(const DeltaShape& s, const std::vector<float>& x, const std::vector<float>& k,
                 const std::vector<float>& beta, const std::vector<float>& dy)
      : y(x.size()), dx(x.size()), dk(k.size()), dbeta(beta.size()) {
    for (int64_t token = 0; token < s.batch * s.tokens; ++token) {
      const int64_t op = s.operators == 1 ? token / s.tokens : token;
      double kx = 0, kdy = 0;
      for (int64_t c = 0; c < s.width; ++c) {
        kx += static_cast<double>(k[op * s.width + c]) * x[token * s.width + c];
        kdy += static_cast<double>(k[op * s.width + c]) * dy[token * s.width + c];
      }
      for (int64_t c = 0; c < s.width; ++c) {
        const int64_t at = token * s.width + c;
        const double k_c = k[op * s.width + c];
        y[at] = x[at] - beta[op] * kx * k_c;
        dx[at] = dy[at] - beta[op] * kdy * k_c;
        dk[op * s.width + c] -= beta[op] * (kdy * x[at] + kx * dy[at]);
      }
      dbeta[op] -= kx * kdy;
    }
  }
  Values y, dx, dk, dbeta;
};

void check_delta(const DeltaShape& s) {
  const int64_t count = s.batch * s.tokens * s.width, operators = s.batch * s.operators;
  const auto x = random_values(count, 1), dy = random_values(count, 2);
  const auto k = random_values(operators * s.width, 3, 0.3F), beta = random_values(operators, 4);
  const DeltaReference reference(s, x, k, beta, dy);
  with_threads([&] {
    auto y = unwritten(count), dx = unwritten(count);
    auto dk = unwritten(operators * s.width), dbeta = unwritten(operators);
    delta_forward({s, x.data(), k.data(), beta.data(), y.data()});
    delta_backward(
        {s, x.data(), k.data(), beta.data(), dy.data(), dx.data(), dk.data(), dbeta.data()});
    expect_close(y, reference.y, kValueTolerance, "y");
    expect_close(dx, reference.dx, kGradientTolerance, "dx");
    expect_close(dk, reference.dk, kGradientTolerance, "dk");
    expect_close(dbeta, reference.dbeta, kGradientTolerance, "dbeta");
  });
}

TEST(Delta, MatchesTheDefinition) {
  for (const auto [batch, tokens, width] :
       {std::array<int64_t, 3>{1, 1, 1}, {3, 7, 5}, {2, 65, 20}, {1, 200, 33}, {5, 3, 128}}) {
    for (const int64_t operators : {int64_t{1}, tokens}) {
      SCOPED_TRACE(testing::Message() << batch << " × " << tokens << " × " << width);
      check_delta({batch, tokens, operators, width});
    }
  }
}

// One operator's parameters in a row: u, v, β, k, γ.
struct Row {
  explicit Row(int64_t streams) : n(streams) {}
  int64_t size() const { return 3 * n + 2; }
  int64_t n;
};

Values identity(int64_t n) {
  Values matrix(n * n);
  for (int64_t i = 0; i < n; ++i) matrix[i * n + i] = 1;
  return matrix;
}

Values product(const Values& a, const Values& b, int64_t n) {
  Values c(n * n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + p] * b[p * n + j];
    }
  }
  return c;
}

// (I + M) Q = I − M by elimination; M + I needs no pivots, its symmetric part being I.
Values cayley_solved(const Values& m, int64_t n) {
  Values left = identity(n), q = identity(n);
  for (int64_t i = 0; i < n * n; ++i) {
    left[i] += m[i];
    q[i] -= m[i];
  }
  for (int64_t p = 0; p < n; ++p) {
    for (int64_t i = 0; i < n; ++i) {
      if (i == p) continue;
      const double factor = left[i * n + p] / left[p * n + p];
      for (int64_t j = 0; j < n; ++j) {
        left[i * n + j] -= factor * left[p * n + j];
        q[i * n + j] -= factor * q[p * n + j];
      }
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) q[i * n + j] /= left[i * n + i];
  }
  return q;
}

Values solved_rotation(const Values& row, int64_t n) {
  Values m(n * n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      m[i * n + j] = row[2 * n] / 2 * (row[i] * row[n + j] - row[n + i] * row[j]);
    }
  }
  return cayley_solved(m, n);
}

// k/|k|, 0 for k = 0.
Values unit(Values k) {
  double length2 = 0;
  for (const double x : k) length2 += x * x;
  for (double& x : k) x = length2 > 0 ? x / std::sqrt(length2) : 0;
  return k;
}

Values part(const Values& row, int64_t at, int64_t count) {
  return {row.begin() + at, row.begin() + at + count};
}
Values unit_k(const Values& row, int64_t n) { return unit(part(row, 2 * n + 1, n)); }

Values hybrid(const Values& row, int64_t n) {
  const double gamma = row[3 * n + 1];
  const Values k = unit_k(row, n), h = identity(n);
  Values g = solved_rotation(row, n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const double reflected = h[i * n + j] - 2 * k[i] * k[j];
      g[i * n + j] = gamma * g[i * n + j] + (1 - gamma) * reflected;
    }
  }
  return g;
}

Values geodesic(const Values& row, int64_t n) {
  const double phi = std::numbers::pi * (1 - row[3 * n + 1]);
  const Values k = unit_k(row, n);
  double along = 0;
  for (int64_t i = 0; i < n; ++i) along += k[i] * row[i];
  Values a = part(row, 0, n);
  for (int64_t i = 0; i < n; ++i) a[i] -= along * k[i];
  a = unit(a);
  Values r = identity(n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      r[i * n + j] += (std::cos(phi) - 1) * (k[i] * k[j] + a[i] * a[j]) +
                      std::sin(phi) * (a[i] * k[j] - k[i] * a[j]);
    }
  }
  return product(r, solved_rotation(row, n), n);
}

using Complex = std::complex<double>;

Complex entry(const Values& parts, int64_t j) { return {parts[2 * j], parts[2 * j + 1]}; }

// The real matrix of n/2 × n/2 complex entries.
Values real_matrix(int64_t n, const std::function<Complex(int64_t i, int64_t j)>& at) {
  Values matrix(n * n);
  for (int64_t i = 0; i < n / 2; ++i) {
    for (int64_t j = 0; j < n / 2; ++j) {
      const Complex z = at(i, j);
      matrix[2 * i * n + 2 * j] = matrix[(2 * i + 1) * n + 2 * j + 1] = z.real();
      matrix[(2 * i + 1) * n + 2 * j] = z.imag();
      matrix[2 * i * n + 2 * j + 1] = -z.imag();
    }
  }
  return matrix;
}

Values unitary(const Values& row, int64_t n) {
  const Values u = part(row, 0, n), v = part(row, n, n), k = unit_k(row, n);
  const Values m = real_matrix(n, [&](int64_t i, int64_t j) {
    return row[2 * n] / 2 *
           (entry(u, i) * std::conj(entry(v, j)) - entry(v, i) * std::conj(entry(u, j)));
  });
  const Complex turn = std::polar(1.0, std::numbers::pi * (1 - row[3 * n + 1])) - 1.0;
  const Values p = real_matrix(n, [&](int64_t i, int64_t j) {
    return (i == j ? 1.0 : 0.0) + turn * entry(k, i) * std::conj(entry(k, j));
  });
  return product(p, cayley_solved(m, n), n);
}

// The rows' parts, each of all operators one after the other, as the kernels take them.
struct Parts {
  Parts(const std::vector<float>& rows, int64_t operators, int64_t n) {
    for (int64_t o = 0; o < operators; ++o) {
      const float* row = rows.data() + o * Row(n).size();
      u.insert(u.end(), row, row + n);
      v.insert(v.end(), row + n, row + 2 * n);
      beta.push_back(row[2 * n]);
      k.insert(k.end(), row + 2 * n + 1, row + 3 * n + 1);
      gamma.push_back(row[3 * n + 1]);
    }
  }
  std::vector<float> u, v, beta, k, gamma;
};

// A kernel and its definition.
struct Operator {
  const char* name;
  Values (*definition)(const Values& row, int64_t n);
  void (*forward)(const HybridForward&);
  void (*backward)(const HybridBackward&);
  std::vector<int64_t> streams;
};

std::vector<Operator> operators() {
  return {{"hybrid", hybrid, hybrid_forward, hybrid_backward, {1, 2, 3, 4, 5, 8, 16}},
          {"geodesic", geodesic, geodesic_forward, geodesic_backward, {2, 3, 4, 5, 8, 16}},
          {"unitary", unitary, unitary_forward, unitary_backward, {2, 4, 6, 8, 16}}};
}

void check_operator(const Operator& op, int64_t operators, int64_t n) {
  const int64_t size = Row(n).size();
  auto rows = random_values(operators * size, 1);
  for (int64_t o = 0; o < operators; ++o) {
    rows[o * size + 2 * n] = std::exp(rows[o * size + 2 * n]);
    float& gamma = rows[o * size + 3 * n + 1];
    gamma = o % 8 < 3 ? static_cast<float>(o % 8) / 2 : 1 / (1 + std::exp(-gamma));
  }
  const auto dg = random_values(operators * n * n, 2);
  Values g_ref;
  std::vector<float> expected;  // gradients, laid out as the rows
  for (int64_t o = 0; o < operators; ++o) {
    const Values row(rows.begin() + o * size, rows.begin() + (o + 1) * size);
    const Values g = op.definition(row, n);
    g_ref.insert(g_ref.end(), g.begin(), g.end());
    const Values weight(dg.begin() + o * n * n, dg.begin() + (o + 1) * n * n);
    const Values gradient =
        numeric_gradient([&](const Values& at) { return op.definition(at, n); }, row, weight);
    expected.insert(expected.end(), gradient.begin(), gradient.end());
  }
  const Parts in(rows, operators, n), reference(expected, operators, n);
  with_threads([&] {
    auto g = unwritten(operators * n * n);
    op.forward({operators, n, in.u.data(), in.v.data(), in.beta.data(), in.k.data(),
                in.gamma.data(), g.data()});
    expect_close(g, g_ref, kValueTolerance, "g");
    auto du = unwritten(operators * n), dv = du, dk = du;
    auto dbeta = unwritten(operators), dgamma = dbeta;
    op.backward({operators, n, in.u.data(), in.v.data(), in.beta.data(), in.k.data(),
                 in.gamma.data(), dg.data(), du.data(), dv.data(), dbeta.data(), dk.data(),
                 dgamma.data()});
    expect_close(du, widen(reference.u), kGradientTolerance, "du");
    expect_close(dv, widen(reference.v), kGradientTolerance, "dv");
    expect_close(dbeta, widen(reference.beta), kGradientTolerance, "dbeta");
    if (n > 1) expect_close(dk, widen(reference.k), kGradientTolerance, "dk");
    expect_close(dgamma, widen(reference.gamma), kGradientTolerance, "dgamma");
  });
}

TEST(Operators, MatchTheSolvedSystemAndItsNumericGradient) {
  for (const Operator& op : operators()) {
    for (const int64_t n : op.streams) {
      for (const int64_t operators : {1, 7, 40}) {
        SCOPED_TRACE(testing::Message()
                     << operators << " " << op.name << " operators on " << n << " streams");
        check_operator(op, operators, n);
      }
    }
  }
}

TEST(Operators, ZeroAndParallelVectorsGiveTheIdentity) {
  const int64_t n = 4;
  const std::vector<float> zero(n), u{1, 2, 4, -1};
  const std::vector<float> parallel{0x1p60F, 0x1p61F, 0x1p62F, -0x1p60F};
  const std::vector<float> beta{1e12F}, gamma{0.25F};
  for (const Operator& op : operators()) {
    for (const auto& [first, second] :
         {std::pair{zero, zero}, {zero, u}, {u, zero}, {u, parallel}}) {
      auto g = unwritten(n * n);
      op.forward(
          {1, n, first.data(), second.data(), beta.data(), zero.data(), gamma.data(), g.data()});
      expect_close(g, identity(n), 0, op.name);
    }
  }
}

}  // namespace
}  // namespace edelta::kernels
