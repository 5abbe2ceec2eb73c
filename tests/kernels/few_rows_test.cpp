#include "kernels/few_rows.h"

#include "kernels/layer_reference.h"

namespace edelta::kernels {
namespace {

using namespace testing_support;

struct Shape {
  int64_t tokens, in, out;
};

// Whole and broken vectors and blocks of rows, and one that threads share.
const Shape kShapes[] = {{1, 1, 1},    {1, 128, 384}, {2, 33, 7},  {3, 5, 66},
                         {4, 16, 130}, {7, 40, 9},    {15, 8, 65}, {2, 520, 521}};

TEST(FewRows, LinearIsItsDefinition) {
  for (const auto& [n, k, m] : kShapes) {
    for (const bool full : {false, true}) {
      const Floats x = random_floats(n * k, 1, 1, 0.5F), weight = random_floats(m * k, 2, 0.3F);
      const Floats norm = full ? random_floats(k, 3, 0.2F, 1) : Floats();
      const Floats shift = full ? random_floats(k, 4) : Floats();
      const Floats bias = full ? random_floats(m, 5) : Floats();
      const Floats residual = full ? random_floats(n * m, 6) : Floats();
      Doubles expected = linear(layer_norm(x, norm, shift, n, k, 1e-5).y, weight, bias, n, k, m);
      if (full) add_to(expected, widen(residual));
      for (const int threads : {1, 3}) {
        const ThreadCount count(threads);
        Floats y = unset(n * m);
        linear_few_rows({.tokens = n,
                         .in = k,
                         .out = m,
                         .x = pointer(x),
                         .norm_weight = pointer(norm),
                         .norm_bias = pointer(shift),
                         .weight = pointer(weight),
                         .bias = pointer(bias),
                         .residual = pointer(residual),
                         .y = pointer(y)});
        expect_close(y, expected, 2e-5, "y");
      }
    }
  }
}

TEST(FewRows, MlpIsThatOfManyRows) {
  for (const auto& [n, k, m] : kShapes) {
    for (const bool full : {false, true}) {
      const int64_t hidden = 2 * k + 1;
      const Floats x = random_floats(n * k, 1, 1, 0.5F);
      const Floats norm = full ? random_floats(k, 3, 0.2F, 1) : Floats();
      const Floats fc = random_floats(hidden * k, 2, 0.3F), proj = random_floats(m * hidden, 7);
      const Floats fc_bias = full ? random_floats(hidden, 5) : Floats();
      const Floats proj_bias = full ? random_floats(m, 8) : Floats();
      const Floats residual = full ? random_floats(n * m, 6) : Floats();
      Floats few = unset(n * m), many = unset(n * m);
      MlpForward a{.tokens = n,
                   .in = k,
                   .hidden = hidden,
                   .out = m,
                   .x = pointer(x),
                   .norm_weight = pointer(norm),
                   .fc_weight = pointer(fc),
                   .fc_bias = pointer(fc_bias),
                   .proj_weight = pointer(proj),
                   .proj_bias = pointer(proj_bias),
                   .residual = pointer(residual),
                   .y = pointer(few)};
      mlp_few_rows(a);
      a.y = pointer(many);
      mlp_forward(a);
      expect_close(few, widen(many), 2e-5, "y");
    }
  }
}

}  // namespace
}  // namespace edelta::kernels
