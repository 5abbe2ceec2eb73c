#include "kernels/adamw.h"

#include "kernels/layer_reference.h"

namespace edelta::kernels {
namespace {

using namespace testing_support;

// Several tensors, their sizes around and far above the kernels' unit of work.
struct Model {
  explicit Model(const std::vector<int64_t>& sizes) {
    for (int64_t size : sizes) {
      const auto seed = static_cast<uint32_t>(parameters.size());
      parameters.push_back(random_floats(size, 10 + seed));
      gradients.push_back(random_floats(size, 20 + seed, 0.1F));
      first.push_back(random_floats(size, 30 + seed, 0.1F));
      second.push_back(random_floats(size, 40 + seed, 0.1F));
      for (float& value : second.back()) value *= value;
    }
  }

  std::vector<ParameterSegment> segments() {
    std::vector<ParameterSegment> out;
    for (size_t s = 0; s < parameters.size(); ++s) {
      out.push_back({parameters[s].data(), gradients[s].data(), first[s].data(), second[s].data(),
                     static_cast<int64_t>(parameters[s].size()), s % 2 == 0 ? 0.1F : 0.0F});
    }
    return out;
  }

  std::vector<Floats> parameters, gradients, first, second;
};

const std::vector<int64_t> kSizes = {1, 3, 0, 20, 4096, 4097, 50001};

AdamWStep step_of(const std::vector<ParameterSegment>& segments) {
  AdamWStep a;
  a.segments = segments.data();
  a.segment_count = static_cast<int64_t>(segments.size());
  a.learning_rate = 3e-2;
  a.bias_correction1 = 1 - std::pow(a.beta1, 3);
  a.bias_correction2 = 1 - std::pow(a.beta2, 3);
  a.gradient_scale = 0.3;
  return a;
}

TEST(AdamW, MatchesTheDefinition) {
  for (int threads : {1, 2, 5}) {
    const ThreadCount guard(threads);
    Model model(kSizes);
    const Model before = model;
    const std::vector<ParameterSegment> segments = model.segments();
    const AdamWStep a = step_of(segments);
    adamw_step(a);
    for (size_t s = 0; s < segments.size(); ++s) {
      Doubles p = widen(before.parameters[s]);
      Doubles m = widen(before.first[s]);
      Doubles v = widen(before.second[s]);
      for (size_t i = 0; i < p.size(); ++i) {
        const double g = before.gradients[s][i] * a.gradient_scale;
        p[i] *= 1 - a.learning_rate * segments[s].weight_decay;
        m[i] = a.beta1 * m[i] + (1 - a.beta1) * g;
        v[i] = a.beta2 * v[i] + (1 - a.beta2) * g * g;
        p[i] -= a.learning_rate / a.bias_correction1 * m[i] /
                (std::sqrt(v[i]) / std::sqrt(a.bias_correction2) + a.eps);
      }
      expect_close(model.parameters[s], p, 1e-6, "parameter");
      expect_close(model.first[s], m, 1e-6, "first moment");
      expect_close(model.second[s], v, 1e-6, "second moment");
    }
  }
}

// The direction at a first step without decay is the angle itself, whatever the moments.
TEST(AdamW, TheAngleIsThatOfTheMoments) {
  Floats first{0.0F, 0.0F, 1e-30F, -1e-30F, 3e37F, -3e37F, 1.0F};
  Floats root{0.0F, 2.0F, 0.0F, 0.0F, 1.0F, 1.0F, 1.0F};
  for (int i = -4000; i <= 4000; ++i) {
    first.push_back(std::sinh(static_cast<float>(i) * 2e-3F));
    root.push_back(1.0F);
  }
  Floats second = root;
  for (float& value : second) value *= value;
  Floats parameter(first.size()), gradient(first.size()), m = first, v = second;
  const ParameterSegment segment{parameter.data(), gradient.data(), m.data(), v.data(),
                                 static_cast<int64_t>(first.size())};
  AdamWStep a{.segments = &segment, .segment_count = 1, .learning_rate = 1};
  a.beta1 = a.beta2 = 1;
  a.angle = true;
  adamw_step(a);
  for (size_t i = 0; i < first.size(); ++i) {
    const double expected = -std::atan2(static_cast<double>(first[i]), root[i]);
    EXPECT_NEAR(parameter[i], expected, 3e-7 * std::abs(expected)) << first[i] << " " << root[i];
  }
}

TEST(AdamW, RunningMeansFollowTheParameters) {
  for (const bool angle : {false, true}) {
    Model model(kSizes);
    std::vector<Floats> means;
    for (const Floats& parameter : model.parameters) {
      means.push_back(random_floats(static_cast<int64_t>(parameter.size()), 7));
    }
    const std::vector<Floats> before = means;
    std::vector<ParameterSegment> segments = model.segments();
    for (size_t s = 0; s < segments.size(); ++s) segments[s].mean = means[s].data();
    AdamWStep a = step_of(segments);
    a.angle = angle;
    a.mean_rate = 0.7;
    adamw_step(a);
    for (size_t s = 0; s < segments.size(); ++s) {
      Doubles expected = widen(before[s]);
      for (size_t i = 0; i < expected.size(); ++i) {
        expected[i] = 0.7 * expected[i] + 0.3 * model.parameters[s][i];
      }
      expect_close(means[s], expected, 1e-6, "mean");
    }
  }
}

TEST(AdamW, TheResultDoesNotDependOnThreads) {
  std::vector<Floats> expected;
  for (int threads : {1, 2, 5}) {
    const ThreadCount guard(threads);
    Model model(kSizes);
    const std::vector<ParameterSegment> segments = model.segments();
    adamw_step(step_of(segments));
    if (expected.empty()) expected = model.parameters;
    EXPECT_EQ(model.parameters, expected);
  }
}

TEST(SquaredNorm, SumsEverySegmentAlikeForAnyThreads) {
  Model model(kSizes);
  const std::vector<ParameterSegment> segments = model.segments();
  double first_total = -1;
  for (int threads : {1, 2, 5}) {
    const ThreadCount guard(threads);
    double total = -1;
    Doubles per_segment(segments.size(), -1);
    squared_norm(
        {segments.data(), static_cast<int64_t>(segments.size()), &total, per_segment.data()});
    double expected_total = 0;
    for (size_t s = 0; s < segments.size(); ++s) {
      double expected = 0;
      for (float g : model.gradients[s]) expected += static_cast<double>(g) * g;
      EXPECT_NEAR(per_segment[s], expected, 1e-12 * (1 + expected));
      expected_total += expected;
    }
    EXPECT_NEAR(total, expected_total, 1e-12 * expected_total);
    if (first_total < 0) first_total = total;
    EXPECT_EQ(total, first_total);
  }
}

TEST(SquaredNorm, HoldsWhatAFloatWouldNot) {
  Model model({3});
  model.gradients[0] = {1e30F, 1e-30F, 1e30F};
  const std::vector<ParameterSegment> segments = model.segments();
  double total = 0;
  squared_norm({segments.data(), 1, &total, nullptr});
  EXPECT_NEAR(total, 2e60, 1e54);
}

}  // namespace
}  // namespace edelta::kernels
