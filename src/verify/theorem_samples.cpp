#include "verify/theorem_samples.h"

#include <numbers>

namespace edelta::verify {
namespace {

using torch::Tensor;

class Source {
 public:
  explicit Source(uint64_t seed) : generator_(at::make_generator<at::CPUGeneratorImpl>(seed)) {}

  Tensor normal(at::IntArrayRef shape) { return torch::randn(shape, generator_, torch::kFloat64); }
  Tensor uniform(at::IntArrayRef shape, double low, double high) {
    return low + (high - low) * torch::rand(shape, generator_, torch::kFloat64);
  }
  // 10 to a uniform power.
  Tensor decades(int64_t count, double low, double high) {
    return torch::pow(10, uniform({count, 1}, low, high));
  }
  Tensor direction(int64_t count, int64_t n) {
    const Tensor a = normal({count, n});
    return a / a.norm(2, -1, /*keepdim=*/true);
  }

 private:
  at::Generator generator_;
};

Tensor orthogonal_part(const Tensor& u, const Tensor& v) {
  return v - (u * v).sum(-1, true) / u.square().sum(-1, true) * u;
}

// The first is none, so that however few there are, an operator that turns is among them.
RotationSamples draw_extreme(Source& source, int64_t count, int64_t n) {
  const Tensor first = torch::arange(count).eq(0).unsqueeze(-1);
  const auto decades = [&](double low, double high) {
    return torch::where(first, 1.0, source.decades(count, low, high));
  };
  const Tensor direction = source.direction(count, n);
  const Tensor other = source.direction(count, n);
  const Tensor kind = torch::arange(count).remainder(8).unsqueeze(-1);
  const Tensor nearly_parallel = direction + source.decades(count, -16, 0) * other;
  Tensor partner = torch::where(kind.remainder(4) == 1, nearly_parallel, other);
  partner = torch::where(kind == 3, direction, partner);
  const Tensor u = torch::where(kind == 7, 0.0, decades(-18, 18) * direction);
  return {u, decades(-18, 18) * partner, decades(-12, 12), {}};
}

RotationSamples draw_ordinary(Source& source, int64_t count, int64_t n) {
  const Tensor u = source.direction(count, n) * source.decades(count, -1, 1);
  const Tensor w = orthogonal_part(u, source.direction(count, n));
  const Tensor length_u = u.norm(2, -1, true), length_w = w.norm(2, -1, true);
  const Tensor v = w + source.uniform({count, 1}, -1, 1) * length_w / length_u * u;
  const Tensor area = length_u * orthogonal_part(u, v).norm(2, -1, true);
  return {u, v, 2 * source.decades(count, -2, 2) / area, area};
}

Tensor draw_angle(Source& source, int64_t count) {
  const Tensor anywhere = source.uniform({count, 1}, 0, std::numbers::pi - 1e-6);
  const Tensor close = std::numbers::pi - source.decades(count, -6, 0);
  const Tensor index = torch::arange(count).unsqueeze(-1);
  const Tensor size = torch::where(index.remainder(2) == 0, close, anywhere);
  return torch::where(index.remainder(4) < 2, size, -size);
}

}  // namespace

SampleSet draw_samples(const TheoremOptions& options) {
  Source source(options.seed);
  const int64_t count = options.samples;
  SampleSet all;
  for (const int64_t n : options.sizes) {
    all.sizes.push_back({.n = n,
                         .extreme = draw_extreme(source, count, n),
                         .ordinary = draw_ordinary(source, count, n),
                         .angle = draw_angle(source, count),
                         .k = source.decades(count, -18, 18) * source.direction(count, n),
                         .x = source.normal({count, n, 1}),
                         .beta = source.uniform({count, 1}, 0, 3),
                         .gamma = source.uniform({count, 1}, 0, 1),
                         .logits = source.uniform({count, n, n}, -1, 1)});
  }
  return all;
}

}  // namespace edelta::verify
