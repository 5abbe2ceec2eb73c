// Parameters of operators on streams that have a gate, ordinary and extreme.
#pragma once

#include <gtest/gtest.h>
#include "edelta/torch.h"

#include <vector>

#include "tensor_checks.h"

namespace edelta::test {

struct GatedParameters {
  Tensor u, v, beta, k, gamma;

  std::vector<Tensor> list() const { return {u, v, beta, k, gamma}; }
  GatedParameters to(torch::ScalarType type) const {
    return {u.to(type), v.to(type), beta.to(type), k.to(type), gamma.to(type)};
  }
};

using GatedMatrix = Tensor (*)(const Tensor& u, const Tensor& v, const Tensor& beta,
                               const Tensor& k, const Tensor& gamma);

inline GatedParameters ordinary_operators(std::vector<int64_t> shape, int64_t n) {
  const auto vectors = [&](int64_t size) {
    std::vector<int64_t> sizes = shape;
    sizes.push_back(size);
    return normal(sizes);
  };
  return {vectors(n), vectors(n), 0.5 + vectors(1).abs().clamp_max(2), vectors(n),
          0.05 + 0.9 * vectors(1).sigmoid()};
}

// |u|, |v| and |k| over 36 decades, β over 24 and γ at its ends and halfway, with v and k in
// general position, parallel to u within rounding or nearly, i times u in pairs of numbers, or
// zero.
inline GatedParameters extreme_operators(int64_t n) {
  const auto constant = [](double x) { return torch::full({1}, x, torch::kFloat64); };
  const Tensor direction = normal({n});
  const Tensor u = direction / direction.norm();
  Tensor turned = torch::zeros_like(u);  // iu, where numbers come in pairs
  for (int64_t j = 0; j + 1 < n; j += 2) {
    turned[j] = -u[j + 1];
    turned[j + 1] = u[j];
  }
  const std::vector<Tensor> partners = {normal({n}),
                                        u,
                                        u * (1 + 1e-15 * normal({n})),
                                        u + 1e-6 * normal({n}),
                                        turned,
                                        turned + 1e-9 * normal({n}),
                                        torch::zeros_like(u)};
  std::vector<Tensor> all[5];
  const auto add = [&](const GatedParameters& p) {
    const std::vector<Tensor> parts = p.list();
    for (size_t i = 0; i < parts.size(); ++i) all[i].push_back(parts[i]);
  };
  int64_t count = 0;
  for (const double beta : {1e-12, 1.0, 1e12}) {
    for (const double scale : {1e-18, 1.0, 1e18}) {
      for (const double other : {1e-18, 1.0, 1e18}) {
        for (size_t i = 0; i < partners.size(); ++i) {
          const Tensor& k = partners[(i + static_cast<size_t>(count)) % partners.size()];
          const double gamma = static_cast<double>(count++ % 5) / 4;
          add({scale * u, other * partners[i], constant(beta), other * k, constant(gamma)});
          add({other * partners[i], scale * u, constant(beta), scale * k, constant(gamma)});
        }
      }
    }
  }
  return {torch::stack(all[0]), torch::stack(all[1]), torch::stack(all[2]), torch::stack(all[3]),
          torch::stack(all[4])};
}

inline void expect_orthogonal_with_finite_gradients(GatedMatrix matrix,
                                                    const GatedParameters& parameters) {
  for (const auto type : {torch::kFloat64, torch::kFloat32}) {
    std::vector<Tensor> in;
    for (const Tensor& part : parameters.list()) {
      in.push_back(part.to(type).detach().clone().requires_grad_());
    }
    const Tensor g = matrix(in[0], in[1], in[2], in[3], in[4]);
    ASSERT_EQ(g.scalar_type(), type);
    ASSERT_TRUE(all_finite(g));
    EXPECT_LT(orthogonality_error(g), type == torch::kFloat64 ? 1e-12 : 2e-6);
    EXPECT_LT(largest(torch::linalg_det(g.detach().to(torch::kFloat64)) - 1),
              type == torch::kFloat64 ? 1e-11 : 1e-5);
    const Tensor weight = normal(g.sizes()).to(type);
    for (const Tensor& gradient : torch::autograd::grad({(weight * g).sum()}, in)) {
      EXPECT_TRUE(all_finite(gradient));
    }
  }
}

}  // namespace edelta::test
