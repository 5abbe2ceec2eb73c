// The operator of each token against its definition in float64, Q by a linear solve; gradients by
// differences of the definition.
#include "kernels/token_hybrid.h"

#include "kernels/layer_reference.h"

namespace edelta::kernels {
namespace {

using namespace testing_support;

// (I + M)⁻¹(I − M) x for one channel of the streams, by elimination; I + M has positive pivots.
Doubles rotated(const double* u, const double* v, double beta, const Doubles& x) {
  const auto n = static_cast<int64_t>(x.size());
  std::vector<Doubles> rows(n, Doubles(n));
  Doubles right(n);
  for (int64_t i = 0; i < n; ++i) {
    right[i] = x[i];
    for (int64_t j = 0; j < n; ++j) {
      const double m = beta / 2 * (u[i] * v[j] - v[i] * u[j]);
      rows[i][j] = (i == j) + m;
      right[i] -= m * x[j];
    }
  }
  for (int64_t k = 0; k < n; ++k) {
    for (int64_t i = k + 1; i < n; ++i) {
      const double factor = rows[i][k] / rows[k][k];
      for (int64_t j = k; j < n; ++j) rows[i][j] -= factor * rows[k][j];
      right[i] -= factor * right[k];
    }
  }
  for (int64_t k = n - 1; k >= 0; --k) {
    for (int64_t j = k + 1; j < n; ++j) right[k] -= rows[k][j] * right[j];
    right[k] /= rows[k][k];
  }
  return right;
}

struct Moved {
  Doubles y;
  double gamma;
};

Moved move(const TokenHybridShape& shape, const double* x, const double* parameters) {
  const int64_t n = shape.streams, d = shape.width, all = shape.channels();
  const double beta = std::log1p(std::exp(parameters[2 * n]));
  const double* k_raw = parameters + 2 * n + 1;
  Moved moved{Doubles(all), 1 / (1 + std::exp(-k_raw[all]))};
  double squares = 0, along = 0;
  for (int64_t c = 0; c < all; ++c) squares += std::pow(k_raw[c] + 1e-8, 2);
  const double length = std::max(std::sqrt(squares), 1e-12);
  const auto k = [&](int64_t c) { return (k_raw[c] + 1e-8) / length; };
  for (int64_t c = 0; c < all; ++c) along += k(c) * x[c];
  for (int64_t c = 0; c < d; ++c) {
    Doubles column(n);
    for (int64_t i = 0; i < n; ++i) column[i] = x[i * d + c];
    const Doubles turned = rotated(parameters, parameters + n, beta, column);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = i * d + c;
      moved.y[at] = moved.gamma * turned[i] + (1 - moved.gamma) * (x[at] - 2 * along * k(at));
    }
  }
  return moved;
}

TEST(TokenHybrid, MatchesTheDefinition) {
  for (const auto& [tokens, streams, width] :
       {TokenHybridShape{1, 1, 1}, {1, 2, 3}, {3, 3, 7}, {70, 4, 2}, {2, 8, 17}}) {
    const TokenHybridShape shape{tokens, streams, width};
    const int64_t all = shape.channels(), count = shape.parameters();
    const Floats x = random_floats(tokens * all, 1), parameters = random_floats(tokens * count, 2);
    const Floats dy = random_floats(tokens * all, 3), dgamma = random_floats(tokens, 4);
    Floats y = unset(x.size()), gamma = unset(tokens);
    Floats dx = unset(x.size()), dparameters = unset(parameters.size());
    token_hybrid_forward({shape, x.data(), parameters.data(), y.data(), gamma.data()});
    token_hybrid_backward({shape, x.data(), parameters.data(), dy.data(), dgamma.data(), dx.data(),
                           dparameters.data()});
    Doubles y_expected, gamma_expected, dx_expected, dparameters_expected;
    for (int64_t t = 0; t < tokens; ++t) {
      Doubles x_t(x.begin() + t * all, x.begin() + (t + 1) * all);
      Doubles p_t(parameters.begin() + t * count, parameters.begin() + (t + 1) * count);
      const Moved moved = move(shape, x_t.data(), p_t.data());
      y_expected.insert(y_expected.end(), moved.y.begin(), moved.y.end());
      gamma_expected.push_back(moved.gamma);
      const auto functional = [&] {
        const Moved at = move(shape, x_t.data(), p_t.data());
        double sum = dgamma[t] * at.gamma;
        for (int64_t c = 0; c < all; ++c) sum += dy[t * all + c] * at.y[c];
        return sum;
      };
      const auto slope = [&](double& variable) {
        constexpr double kStep = 1e-5;
        const double centre = variable;
        variable = centre + kStep;
        const double above = functional();
        variable = centre - kStep;
        const double below = functional();
        variable = centre;
        return (above - below) / (2 * kStep);
      };
      for (double& variable : x_t) dx_expected.push_back(slope(variable));
      for (double& variable : p_t) dparameters_expected.push_back(slope(variable));
    }
    expect_close(y, y_expected, 1e-5, "y");
    expect_close(gamma, gamma_expected, 1e-6, "gamma");
    expect_close(dx, dx_expected, 1e-4, "dx");
    expect_close(dparameters, dparameters_expected, 1e-4, "dparameters");
  }
}

}  // namespace
}  // namespace edelta::kernels
