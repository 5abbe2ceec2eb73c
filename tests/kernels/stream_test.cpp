#include "kernels/stream.h"

#include "kernels/close.h"

namespace edelta::kernels {
namespace {

// Streams n and width d, over a few token counts.
class StreamTest : public testing::TestWithParam<std::tuple<int64_t, int64_t>> {
 protected:
  const int64_t n = std::get<0>(GetParam());
  const int64_t d = std::get<1>(GetParam());
};

void check_mix(const StreamMixShape& shape) {
  const auto [batch, tokens, operators, n, d] = shape;
  const int64_t count = batch * tokens * n * d, entries = batch * operators * n * n;
  const auto x = random_values(count, 1), dy = random_values(count, 2);
  const auto g = random_values(entries, 3), g_backward = random_values(entries, 4);
  std::vector<double> y_ref(count), dx_ref(count), dg_ref(entries);
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t t = 0; t < tokens; ++t) {
      const int64_t at = (b * tokens + t) * n * d;
      const int64_t g_at = (b * operators + (operators == 1 ? 0 : t)) * n * n;
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          for (int64_t c = 0; c < d; ++c) {
            const int64_t row = at + i * d + c, column = at + j * d + c, entry = g_at + i * n + j;
            y_ref[row] += static_cast<double>(g[entry]) * x[column];
            dx_ref[column] += static_cast<double>(g_backward[entry]) * dy[row];
            dg_ref[entry] += static_cast<double>(dy[row]) * x[column];
          }
        }
      }
    }
  }
  with_threads([&] {
    auto y = unwritten(count), dx = unwritten(count), dg = unwritten(entries);
    auto dg_again = unwritten(entries);
    stream_mix_forward({shape, x.data(), g.data(), y.data()});
    stream_mix_backward({shape, x.data(), g_backward.data(), dy.data(), dx.data(), dg.data()});
    expect_close(y, y_ref, kValueTolerance, "y");
    expect_close(dx, dx_ref, kGradientTolerance, "dx");
    expect_close(dg, dg_ref, kGradientTolerance, "dg");
    stream_mix_backward(
        {shape, x.data(), g_backward.data(), dy.data(), dx.data(), dg_again.data()});
    expect_same_bits(dg, dg_again, "dg");
  });
}

TEST_P(StreamTest, MixMatchesTheDefinition) {
  for (const int64_t batch : {1, 3}) {
    for (const int64_t tokens : {1, 2, 65, 130}) {
      for (const int64_t operators : {int64_t{1}, tokens}) {
        SCOPED_TRACE(testing::Message()
                     << "B " << batch << ", T " << tokens << ", operators " << operators);
        check_mix({batch, tokens, operators, n, d});
      }
    }
  }
}

void check_update(const StreamShape& shape, bool shared_y, bool mixed) {
  const auto [tokens, n, d] = shape;
  const int64_t count = tokens * n * d, y_count = shared_y ? tokens * d : count;
  const auto x = random_values(count, 1), g = random_values(count, 2);
  const auto h = random_values(tokens * n * n, 3), post = random_values(tokens * n, 4);
  const auto y = random_values(y_count, 5);
  std::vector<double> updated_ref(count), dx_ref(count), dh_ref(tokens * n * n),
      dpost_ref(tokens * n), dy_ref(y_count);
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t c = 0; c < d; ++c) {
        const int64_t row = (t * n + i) * d + c;
        const int64_t y_at = shared_y ? t * d + c : row;
        updated_ref[row] += static_cast<double>(post[t * n + i]) * y[y_at];
        dpost_ref[t * n + i] += static_cast<double>(g[row]) * y[y_at];
        dy_ref[y_at] += static_cast<double>(post[t * n + i]) * g[row];
        for (int64_t j = 0; j < n; ++j) {
          const int64_t column = (t * n + j) * d + c, entry = (t * n + i) * n + j;
          const double h_ij = mixed ? h[entry] : (i == j ? 1 : 0);
          updated_ref[row] += h_ij * x[column];
          dx_ref[column] += h_ij * g[row];
          dh_ref[entry] += static_cast<double>(g[row]) * x[column];
        }
      }
    }
  }
  const float* operators = mixed ? h.data() : nullptr;
  with_threads([&] {
    auto updated = unwritten(count), dx = unwritten(count), dh = unwritten(tokens * n * n);
    auto dpost = unwritten(tokens * n), dy = unwritten(y_count);
    stream_update_forward(
        {shape, shared_y, x.data(), operators, post.data(), y.data(), updated.data()});
    stream_update_backward({shape, shared_y, x.data(), operators, post.data(), y.data(), g.data(),
                            dx.data(), dh.data(), dpost.data(), dy.data()});
    expect_close(updated, updated_ref, kValueTolerance, "updated");
    expect_close(dx, dx_ref, kGradientTolerance, "dx");
    if (mixed) expect_close(dh, dh_ref, kGradientTolerance, "dh");
    expect_close(dpost, dpost_ref, kGradientTolerance, "dpost");
    expect_close(dy, dy_ref, kGradientTolerance, "dy");
  });
}

TEST_P(StreamTest, UpdateMatchesTheDefinition) {
  for (const int64_t tokens : {1, 2, 65, 130}) {
    for (const bool shared_y : {false, true}) {
      for (const bool mixed : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << tokens << " tokens, shared " << shared_y << ", mixed " << mixed);
        check_update({tokens, n, d}, shared_y, mixed);
      }
    }
  }
}

TEST_P(StreamTest, UpdateWithoutMixingCanLeaveOutTheGradientOfX) {
  const int64_t tokens = 3;
  const auto g = random_values(tokens * n * d, 1), post = random_values(tokens * n, 2);
  const auto y = random_values(tokens * d, 3);
  auto dpost = unwritten(tokens * n), dy = unwritten(tokens * d);
  auto dpost_with = dpost, dy_with = dy, dx = unwritten(tokens * n * d);
  stream_update_backward({{tokens, n, d},
                          true,
                          nullptr,
                          nullptr,
                          post.data(),
                          y.data(),
                          g.data(),
                          nullptr,
                          nullptr,
                          dpost.data(),
                          dy.data()});
  stream_update_backward({{tokens, n, d},
                          true,
                          nullptr,
                          nullptr,
                          post.data(),
                          y.data(),
                          g.data(),
                          dx.data(),
                          nullptr,
                          dpost_with.data(),
                          dy_with.data()});
  expect_same_bits(dpost, dpost_with, "dpost");
  expect_same_bits(dy, dy_with, "dy");
  expect_same_bits(dx, g, "dx");
}

// Large tensors are stored past the caches, where they begin and their streams lie at whole
// vectors.
TEST(StreamUpdate, LargeTensorsGiveWhatTheirPartsGive) {
  const int64_t tokens = 8200, n = 4, part = 82;
  for (const auto& [d, offset] : {std::pair{128, 0}, std::pair{128, 4}, std::pair{130, 0}}) {
    SCOPED_TRACE(testing::Message() << "d " << d << ", offset " << offset);
    const auto x = random_values(tokens * n * d, 1), h = random_values(tokens * n * n, 2);
    const auto post = random_values(tokens * n, 3), y = random_values(tokens * d, 4);
    for (const bool mixed : {false, true}) {
      auto memory = unwritten(tokens * n * d + 32), parts = unwritten(tokens * n * d);
      float* all = aligned(memory) + offset;
      const auto update = [&](int64_t first, int64_t count, float* to) {
        stream_update_forward({{count, n, d},
                               true,
                               x.data() + first * n * d,
                               mixed ? h.data() + first * n * n : nullptr,
                               post.data() + first * n,
                               y.data() + first * d,
                               to + first * n * d});
      };
      update(0, tokens, all);
      for (int64_t first = 0; first < tokens; first += part) update(first, part, parts.data());
      expect_same_bits({all, all + parts.size()}, parts, "updated");
    }
  }
}

void check_aggregate(const StreamShape& shape, bool straight) {
  const auto [tokens, n, d] = shape;
  const int64_t count = tokens * n * d;
  const auto x = random_values(count, 1), pre = random_values(tokens * n, 2);
  const auto da = random_values(tokens * d, 3), other = random_values(count, 4);
  std::vector<double> a_ref(tokens * d), dpre_ref(tokens * n), dx_ref(count);
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t c = 0; c < d; ++c) {
        const int64_t at = (t * n + j) * d + c;
        a_ref[t * d + c] += static_cast<double>(pre[t * n + j]) * x[at];
        dpre_ref[t * n + j] += static_cast<double>(da[t * d + c]) * x[at];
        dx_ref[at] =
            static_cast<double>(pre[t * n + j]) * da[t * d + c] + (straight ? other[at] : 0.0F);
      }
    }
  }
  with_threads([&] {
    auto a = unwritten(tokens * d), dpre = unwritten(tokens * n);
    auto dx = unwritten(count);
    stream_aggregate_forward({shape, x.data(), pre.data(), a.data()});
    stream_aggregate_backward({shape, x.data(), pre.data(), da.data(),
                               straight ? other.data() : nullptr, dx.data(), dpre.data()});
    expect_close(a, a_ref, kValueTolerance, "a");
    expect_close(dx, dx_ref, kGradientTolerance, "dx");
    expect_close(dpre, dpre_ref, kGradientTolerance, "dpre");
    if (!straight) return;
    auto in_place = other;
    stream_aggregate_backward(
        {shape, x.data(), pre.data(), da.data(), in_place.data(), in_place.data(), dpre.data()});
    expect_same_bits(in_place, dx, "dx in the place of straight");
  });
}

TEST_P(StreamTest, AggregateMatchesTheDefinition) {
  for (const int64_t tokens : {1, 2, 65, 130}) {
    for (const bool straight : {false, true}) {
      SCOPED_TRACE(testing::Message() << tokens << " tokens, straight " << straight);
      check_aggregate({tokens, n, d}, straight);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, StreamTest,
                         testing::Combine(testing::Values(1, 2, 3, 4, 5, 8, 16, 17),
                                          testing::Values(1, 3, 8, 20, 32, 63)),
                         [](const auto& info) {
                           return (testing::Message() << "n" << std::get<0>(info.param) << "d"
                                                      << std::get<1>(info.param))
                               .GetString();
                         });

}  // namespace
}  // namespace edelta::kernels
