#include "edelta/probes/reflection.h"

#include <fmt/format.h>

#include <array>

#include "edelta/base/error.h"
#include "edelta/geometry/gate.h"
#include "edelta/geometry/generator.h"
#include "edelta/geometry/hybrid.h"
#include "edelta/nn/net.h"
#include "edelta/ops/delta.h"
#include "edelta/ops/householder.h"
#include "edelta/ops/sinkhorn.h"

namespace edelta::probes {
namespace {

using geometry::Blend;
using geometry::Branch;
using geometry::ScalarField;
using nn::Net;
using torch::Tensor;

constexpr double kCayleyAlpha = 0.1;
constexpr int64_t kCayleyIterations = 2;
constexpr double kInitialGateBias = -1.5;

// x − β (k·x) k.
class DdlReflection : public ReflectionOperator {
 public:
  DdlReflection(int64_t dim, int64_t hidden)
      : k_net_(register_module("k_net", std::make_shared<Net>(dim, hidden, dim))),
        beta_net_(register_module("beta_net", std::make_shared<Net>(dim, hidden, 1))) {}

  ReflectionOutput forward(const Tensor& x) override {
    const Tensor beta = 2 * torch::sigmoid(beta_net_->forward(x));
    return {ops::delta(k_net_->forward(x), beta, x), beta, {}};
  }

 private:
  std::shared_ptr<Net> k_net_, beta_net_;
};

// Which of edelta's operators: the hybrid, a branch of it alone, or another blend of both.
struct HybridKind {
  const char* name;
  Branch branch = Branch::hybrid;
  Blend blend = Blend::linear;
  ScalarField field = ScalarField::real;
};

constexpr std::array kHybridKinds{
    HybridKind{"hybrid"}, HybridKind{"cayley", Branch::cayley},
    HybridKind{"householder", Branch::householder},
    HybridKind{"geodesic", Branch::hybrid, Blend::geodesic},
    HybridKind{"unitary", Branch::hybrid, Blend::geodesic, ScalarField::complex}};

// The operator over the full dimension, u and v orthonormal.
class HybridReflection : public ReflectionOperator {
 public:
  HybridReflection(const HybridKind& kind, int64_t dim, int64_t hidden) : kind_(kind) {
    const auto net = [&](const char* name, int64_t out) {
      return register_module(name, std::make_shared<Net>(dim, hidden, out));
    };
    if (kind.field == ScalarField::complex && dim % 2 != 0) {
      throw InputError(fmt::format("dim is {}; it must be even for {}", dim, kind.name));
    }
    if (has_rotation(kind.branch)) {
      u_net_ = net("u_net", dim);
      v_net_ = net("v_net", dim);
      cayley_beta_net_ = net("cayley_beta_net", 1);
    }
    if (has_reflection(kind.branch)) k_net_ = net("k_net", dim);
    if (!has_gate(kind.branch)) return;
    gate_linear_ = register_module("gate_linear", torch::nn::Linear(dim, 1));
    torch::nn::init::zeros_(gate_linear_->weight);
    torch::nn::init::constant_(gate_linear_->bias, kInitialGateBias);
  }

  ReflectionOutput forward(const Tensor& x) override {
    geometry::OperatorParameters p;
    ReflectionOutput output;
    if (has_rotation(kind_.branch)) {
      p.u = ops::unit_direction(u_net_->forward(x));
      const Tensor v = ops::unit_direction(v_net_->forward(x));
      p.v = ops::unit_direction(v - (p.u * v).sum(-1, /*keepdim=*/true) * p.u);
      p.beta = torch::softplus(cayley_beta_net_->forward(x));
    }
    if (has_reflection(kind_.branch)) p.k = k_net_->forward(x);
    if (has_gate(kind_.branch)) {
      p.gamma = torch::sigmoid(gate_linear_->forward(x));
      // An angle's β is no step towards a reflection; beside a gate, which tells, it is reported.
      output.beta = p.beta;
      output.gamma = p.gamma;
      // The other blends stay orthogonal: they need none.
      if (kind_.blend == Blend::linear) output.gate_weight = kReflectionGateWeight;
    }
    output.y = geometry::hybrid_apply(p, x.unsqueeze(-1), kind_.branch, kind_.blend, kind_.field)
                   .squeeze(-1);
    return output;
  }

 private:
  HybridKind kind_;
  std::shared_ptr<Net> u_net_, v_net_, cayley_beta_net_, k_net_;
  torch::nn::Linear gate_linear_{nullptr};
};

// Y x, Y from two iterations of the Cayley fixed point, started at the identity. Only Y x is asked
// for, so the iteration runs on the vector: y ← x + (α/2) W (x + y).
class JpmhcReflection : public ReflectionOperator {
 public:
  JpmhcReflection(int64_t dim, int64_t hidden)
      : dim_(dim),
        w_net_(register_module("W_net", std::make_shared<Net>(dim, hidden, dim * dim))) {}

  ReflectionOutput forward(const Tensor& x_in) override {
    const Tensor z = w_net_->forward(x_in).unflatten(-1, {dim_, dim_});
    const Tensor w = z - z.transpose(-2, -1);
    const Tensor x = x_in.unsqueeze(-1);
    Tensor y = x;
    for (int64_t i = 0; i < kCayleyIterations; ++i) y = x + kCayleyAlpha / 2 * w.matmul(x + y);
    return {y.squeeze(-1), {}, {}};
  }

 private:
  int64_t dim_;
  std::shared_ptr<Net> w_net_;
};

// mHC's H_res over the full dimension: S x with S = Sinkhorn(α · mat(φ x) + b), a doubly stochastic
// dim×dim matrix, where φ is a two-layer net as the other operators have it, α starts at 0.01 and b
// at 2I. The branch that mHC adds is left out: the operator alone has to do the work.
class MhcReflection : public ReflectionOperator {
 public:
  MhcReflection(int64_t dim, int64_t hidden)
      : dim_(dim),
        phi_net_(register_module("phi_net", std::make_shared<Net>(dim, hidden, dim * dim))),
        alpha_(register_parameter("alpha", torch::full({1}, 0.01))),
        b_(register_parameter("b", 2 * torch::eye(dim))) {}

  ReflectionOutput forward(const Tensor& x) override {
    const Tensor z = alpha_ * phi_net_->forward(x).unflatten(-1, {dim_, dim_}) + b_;
    return {ops::sinkhorn(z).matmul(x.unsqueeze(-1)).squeeze(-1), {}, {}};
  }

 private:
  int64_t dim_;
  std::shared_ptr<Net> phi_net_;
  Tensor alpha_, b_;
};

// GPT's residual connection: x + F(x), F an MLP with the operators' hidden width.
class GptReflection : public ReflectionOperator {
 public:
  GptReflection(int64_t dim, int64_t hidden)
      : net_(register_module("net", std::make_shared<Net>(dim, hidden, dim))) {}

  ReflectionOutput forward(const Tensor& x) override { return {x + net_->forward(x), {}, {}}; }

 private:
  std::shared_ptr<Net> net_;
};

}  // namespace

const std::vector<std::string>& reflection_operator_names() {
  static const std::vector<std::string> names{
      "ddl", "hybrid", "cayley", "householder", "geodesic", "unitary", "jpmhc", "mhc", "gpt"};
  return names;
}

std::shared_ptr<ReflectionOperator> make_reflection_operator(const std::string& name, int64_t dim,
                                                             int64_t hidden) {
  if (name == "ddl") return std::make_shared<DdlReflection>(dim, hidden);
  for (const HybridKind& kind : kHybridKinds) {
    if (name == kind.name) return std::make_shared<HybridReflection>(kind, dim, hidden);
  }
  if (name == "jpmhc") return std::make_shared<JpmhcReflection>(dim, hidden);
  if (name == "mhc") return std::make_shared<MhcReflection>(dim, hidden);
  if (name == "gpt") return std::make_shared<GptReflection>(dim, hidden);
  throw InputError(fmt::format("reflection operator is '{}'; it must be one of: {}", name,
                               fmt::join(reflection_operator_names(), ", ")));
}

Tensor reflection_loss(const Tensor& x, const ReflectionOutput& output) {
  return torch::mse_loss(output.y, -x);
}

Tensor reflection_gate_loss(const ReflectionOutput& output) {
  if (output.gate_weight == 0) return torch::zeros({}, output.y.options());
  return geometry::gate_loss({output.gamma}, geometry::GateRegulariser::product,
                             output.gate_weight);
}

}  // namespace edelta::probes
