// SwiGLU and the norm without weights against plain float64 loops, over channels and over
// positions.
#include "kernels/swiglu.h"

#include "kernels/layer_reference.h"
#include "kernels/rms_norm.h"

namespace edelta::kernels {
namespace {

using namespace testing_support;

constexpr double kEps = 1e-5;

struct Rows {
  Doubles y, rstd;
};

Rows rms_norm(const Doubles& x, int64_t rows, int64_t width) {
  Rows out{x, Doubles(rows)};
  for (int64_t r = 0; r < rows; ++r) {
    double squares = 0;
    for (int64_t i = 0; i < width; ++i) squares += std::pow(x[r * width + i], 2);
    out.rstd[r] = 1 / std::sqrt(squares / static_cast<double>(width) + kEps);
    for (int64_t i = 0; i < width; ++i) out.y[r * width + i] *= out.rstd[r];
  }
  return out;
}

Doubles rms_norm_gradient(const Rows& normed, const Doubles& dy, int64_t rows, int64_t width) {
  Doubles dx(dy.size());
  for (int64_t r = 0; r < rows; ++r) {
    double along = 0;
    for (int64_t i = r * width; i < (r + 1) * width; ++i) along += dy[i] * normed.y[i];
    along /= static_cast<double>(width);
    for (int64_t i = r * width; i < (r + 1) * width; ++i) {
      dx[i] = normed.rstd[r] * (dy[i] - normed.y[i] * along);
    }
  }
  return dx;
}

struct Reference {
  Doubles y, dx, dgate_up, ddown;
};

// Over the rows of x.
Reference reference(const Doubles& x, const Floats& gate_up, const Floats& down, const Doubles& dy,
                    int64_t rows, int64_t width, int64_t inner, bool normed) {
  const Doubles z = linear(x, gate_up, {}, rows, width, 2 * inner);
  Doubles h(rows * inner), dz(z.size());
  const auto logistic = [](double g) { return 1 / (1 + std::exp(-g)); };
  const auto gate = [&](int64_t r, int64_t i) { return z[r * 2 * inner + i]; };
  const auto up = [&](int64_t r, int64_t i) { return z[(r * 2 + 1) * inner + i]; };
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < inner; ++i) {
      h[r * inner + i] = gate(r, i) * logistic(gate(r, i)) * up(r, i);
    }
  }
  Reference out;
  out.y = linear(h, down, {}, rows, inner, width);
  Doubles ds = dy;
  if (normed) {
    for (size_t i = 0; i < x.size(); ++i) out.y[i] += x[i];
    const Rows norm = rms_norm(out.y, rows, width);
    out.y = norm.y;
    ds = rms_norm_gradient(norm, dy, rows, width);
  }
  const LinearGradients of_down = linear_gradients(ds, h, down, rows, inner, width);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < inner; ++i) {
      const double s = logistic(gate(r, i)), dh = of_down.dx[r * inner + i];
      dz[r * 2 * inner + i] = dh * up(r, i) * s * (1 + gate(r, i) * (1 - s));
      dz[(r * 2 + 1) * inner + i] = dh * gate(r, i) * s;
    }
  }
  const LinearGradients of_gate_up = linear_gradients(dz, x, gate_up, rows, width, 2 * inner);
  out.dx = of_gate_up.dx;
  if (normed) {
    for (size_t i = 0; i < ds.size(); ++i) out.dx[i] += ds[i];
  }
  out.dgate_up = of_gate_up.dweight;
  out.ddown = of_down.dweight;
  return out;
}

struct Shape {
  int64_t tokens, width, inner;
};

class SwiGluTest : public testing::TestWithParam<std::tuple<Shape, bool, int>> {};

TEST_P(SwiGluTest, MatchesTheDefinition) {
  const auto [shape, normed, threads] = GetParam();
  const ThreadCount guard(threads);
  const auto [tokens, width, inner] = shape;
  const Floats x = random_floats(tokens * width, 1), dy = random_floats(tokens * width, 2);
  const Floats gate_up = random_floats(2 * inner * width, 3, 0.5F);
  const Floats down = random_floats(width * inner, 4, 0.3F);
  Floats y = unset(x.size()), rstd = unset(tokens), pre = unset(tokens * 2 * inner);
  SwiGluForward forward{.tokens = tokens,
                        .width = width,
                        .inner = inner,
                        .x = x.data(),
                        .gate_up = gate_up.data(),
                        .down = down.data(),
                        .normed = normed,
                        .eps = static_cast<float>(kEps),
                        .y = y.data(),
                        .rstd = normed ? rstd.data() : nullptr,
                        .pre_activation = pre.data()};
  swiglu_forward(forward);
  Floats dx = unset(x.size()), dgate_up = unset(gate_up.size()), ddown = unset(down.size());
  const SwiGluBackward backward{.tokens = tokens,
                                .width = width,
                                .inner = inner,
                                .x = x.data(),
                                .gate_up = gate_up.data(),
                                .down = down.data(),
                                .pre_activation = pre.data(),
                                .y = normed ? y.data() : nullptr,
                                .rstd = rstd.data(),
                                .dy = dy.data(),
                                .dx = dx.data(),
                                .dgate_up = dgate_up.data(),
                                .ddown = ddown.data()};
  swiglu_backward(backward);
  const Reference expected =
      reference(widen(x), gate_up, down, widen(dy), tokens, width, inner, normed);
  expect_close(y, expected.y, 2e-5, "y");
  expect_close(dx, expected.dx, 2e-4, "dx");
  expect_close(dgate_up, expected.dgate_up, 2e-4, "dgate_up");
  expect_close(ddown, expected.ddown, 2e-4, "ddown");

  // The same bits where nothing is saved, and where only the input's gradient is wanted.
  Floats y_again = unset(y.size()), dx_again = unset(dx.size());
  forward.y = y_again.data();
  forward.rstd = forward.pre_activation = nullptr;
  swiglu_forward(forward);
  EXPECT_EQ(y_again, y);
  SwiGluBackward only = backward;
  only.dx = dx_again.data();
  only.dgate_up = only.ddown = nullptr;
  swiglu_backward(only);
  EXPECT_EQ(dx_again, dx);
}

INSTANTIATE_TEST_SUITE_P(Shapes, SwiGluTest,
                         testing::Combine(testing::Values(Shape{1, 1, 1}, Shape{1, 128, 33},
                                                          Shape{7, 3, 20}, Shape{49, 33, 70},
                                                          Shape{130, 64, 256}),
                                          testing::Bool(), testing::Values(1, 2, 5)));

struct PositionShape {
  int64_t batch, positions, channels, inner;
};

class PositionSwiGluTest : public testing::TestWithParam<std::tuple<PositionShape, int>> {};

// [B, rows, columns] → [B, columns, rows]
template <typename Values>
Values turned(const Values& x, int64_t batch, int64_t rows, int64_t columns) {
  Values out(x.size());
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        out[(b * columns + c) * rows + r] = x[(b * rows + r) * columns + c];
      }
    }
  }
  return out;
}

TEST_P(PositionSwiGluTest, MatchesTheDefinition) {
  const auto [given, threads] = GetParam();
  const ThreadCount guard(threads);
  const auto [batch, positions, channels, inner] = given;
  const PositionSwiGluShape shape{batch, positions, channels, inner};
  const int64_t count = batch * positions * channels;
  const Floats x = random_floats(count, 1), dy = random_floats(count, 2);
  const Floats gate_up = random_floats(2 * inner * positions, 3, 0.5F);
  const Floats down = random_floats(positions * inner, 4, 0.3F);
  Floats y = unset(count), rstd = unset(batch * channels);
  Floats pre = unset(batch * channels * 2 * inner);
  PositionSwiGluForward forward{.shape = shape,
                                .x = x.data(),
                                .gate_up = gate_up.data(),
                                .down = down.data(),
                                .eps = static_cast<float>(kEps),
                                .y = y.data(),
                                .rstd = rstd.data(),
                                .pre_activation = pre.data()};
  position_swiglu_forward(forward);
  Floats dx = unset(count), dgate_up = unset(gate_up.size()), ddown = unset(down.size());
  position_swiglu_backward({.shape = shape,
                            .x = x.data(),
                            .gate_up = gate_up.data(),
                            .down = down.data(),
                            .pre_activation = pre.data(),
                            .y = y.data(),
                            .rstd = rstd.data(),
                            .dy = dy.data(),
                            .dx = dx.data(),
                            .dgate_up = dgate_up.data(),
                            .ddown = ddown.data()});
  const Reference expected = reference(turned(widen(x), batch, positions, channels), gate_up, down,
                                       turned(widen(dy), batch, positions, channels),
                                       batch * channels, positions, inner, true);
  expect_close(y, turned(expected.y, batch, channels, positions), 2e-5, "y");
  expect_close(dx, turned(expected.dx, batch, channels, positions), 2e-4, "dx");
  expect_close(dgate_up, expected.dgate_up, 2e-4, "dgate_up");
  expect_close(ddown, expected.ddown, 2e-4, "ddown");

  Floats y_again = unset(count);
  forward.y = y_again.data();
  forward.rstd = forward.pre_activation = nullptr;
  position_swiglu_forward(forward);
  EXPECT_EQ(y_again, y);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, PositionSwiGluTest,
    testing::Combine(testing::Values(PositionShape{1, 1, 1, 1}, PositionShape{2, 11, 32, 20},
                                     PositionShape{1, 3, 65, 7}, PositionShape{3, 17, 130, 33},
                                     PositionShape{2, 97, 64, 256}),
                     testing::Values(1, 2, 5)));

TEST(RmsNorm, MatchesTheDefinition) {
  for (const auto& [tokens, width] :
       {std::pair<int64_t, int64_t>{1, 1}, {3, 7}, {130, 33}, {65, 128}}) {
    const Floats x = random_floats(tokens * width, 1), dy = random_floats(tokens * width, 2);
    Floats y = unset(x.size()), rstd = unset(tokens), dx = unset(x.size());
    rms_norm_forward({.tokens = tokens,
                      .width = width,
                      .eps = static_cast<float>(kEps),
                      .x = x.data(),
                      .y = y.data(),
                      .rstd = rstd.data()});
    rms_norm_backward({.tokens = tokens,
                       .width = width,
                       .y = y.data(),
                       .rstd = rstd.data(),
                       .dy = dy.data(),
                       .dx = dx.data()});
    const Rows expected = rms_norm(widen(x), tokens, width);
    expect_close(y, expected.y, 1e-6, "y");
    expect_close(rstd, expected.rstd, 1e-6, "rstd");
    expect_close(dx, rms_norm_gradient(expected, widen(dy), tokens, width), 1e-5, "dx");
  }
}

}  // namespace
}  // namespace edelta::kernels
