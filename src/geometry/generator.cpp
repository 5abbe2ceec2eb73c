#include "edelta/geometry/generator.h"

#include <algorithm>
#include <optional>

#include "edelta/nn/net.h"
#include "edelta/nn/norm.h"
#include "kernels/scratch.h"
#include "nn/row_map.h"

namespace edelta::geometry {

int64_t row_length(int64_t streams, Branch branch) {
  return (has_rotation(branch) ? 2 * streams + 1 : 0) + (has_reflection(branch) ? streams : 0) +
         (has_gate(branch) ? 1 : 0);
}

namespace {

using torch::Tensor;

// Splits a row of numbers, in the order u, v, β, k, γ-logit, into the parts that the branch has.
OperatorParameters split(const Tensor& row, int64_t n, Branch branch) {
  int64_t at = 0;
  const auto take = [&](int64_t count) {
    at += count;
    return row.narrow(-1, at - count, count);
  };
  OperatorParameters parameters;
  if (has_rotation(branch)) {
    parameters.u = take(n);
    parameters.v = take(n);
    parameters.beta = torch::softplus(take(1));
  }
  if (has_reflection(branch)) parameters.k = take(n);
  if (has_gate(branch)) parameters.gamma = torch::sigmoid(take(1));
  return parameters;
}

// Whether the penalised γ is to be made of an x̄ that no gradient passes. Its values are the same,
// so it takes a second look at x̄ only where there are gradients.
bool penalises_gate_alone(const GeneratorOptions& options) {
  return has_gate(options.branch) && options.gate_gradient == GateGradient::gate &&
         torch::GradMode::is_enabled();
}

// Whether u and v begin with a length of their own; else they are as the general rule has them.
bool starts_live(const GeneratorOptions& options) {
  return options.init == OperatorInit::live && has_rotation(options.branch);
}

// u and v in a row, or in the bias that a row begins from.
std::vector<Tensor> directions(const Tensor& row, int64_t n) {
  return {row.narrow(0, 0, n), row.narrow(0, n, n)};
}

// Of vectors that have been drawn, so that their directions are random.
void give_unit_length(const std::vector<Tensor>& directions) {
  for (Tensor each : directions) each.div_(each.norm());
}

// A net, and beside it a linear gate where there is one.
class NetDecoding : public GeneratorDecoding {
 public:
  NetDecoding(const ops::Norm& norm, const nn::Net::Layers& net)
      : net_(norm, net.first, net.second) {}
  NetDecoding(const nn::Net::Layers& net, const ops::Affine& gate) : NetDecoding({}, net) {
    gate_.emplace(ops::Norm(), gate);
  }

  void operator()(int64_t rows, const float* pooled, float* numbers) const override {
    if (!gate_) return net_(rows, pooled, numbers);
    kernels::Scratch scratch;
    float* made = scratch.floats(rows * net_.out());
    float* logits = scratch.floats(rows);
    net_(rows, pooled, made);
    (*gate_)(rows, pooled, logits);
    for (int64_t row = 0; row < rows; ++row) {
      numbers = std::copy_n(made + row * net_.out(), net_.out(), numbers);
      *numbers++ = logits[row];
    }
  }

 private:
  nn::RowNet net_;
  std::optional<nn::RowMap> gate_;
};

class FixedDecoding : public GeneratorDecoding {
 public:
  explicit FixedDecoding(const Tensor& row) : row_(row.detach().contiguous()) {}

  void operator()(int64_t rows, const float*, float* numbers) const override {
    for (int64_t row = 0; row < rows; ++row) {
      numbers = std::copy_n(row_.data_ptr<float>(), row_.numel(), numbers);
    }
  }

 private:
  Tensor row_;
};

class NetGenerator : public Generator {
 public:
  explicit NetGenerator(const GeneratorOptions& options) : options_(options) {
    const auto net = [&](const char* name, int64_t out) {
      return register_module(name, std::make_shared<nn::Net>(options.width, options.hidden, out));
    };
    if (has_rotation(options.branch)) {
      u_net_ = net("u_net", options.streams);
      v_net_ = net("v_net", options.streams);
      beta_net_ = net("beta_net", 1);
    }
    if (has_reflection(options.branch)) k_net_ = net("k_net", options.streams);
    if (has_gate(options.branch)) {
      gate_net_ = register_module("gate_net", torch::nn::Linear(options.width, 1));
    }
  }

  OperatorParameters generate(const Tensor& pooled) override {
    Tensor row = nn::Net::forward_all(nets(), pooled);
    if (has_gate(options_.branch)) row = torch::cat({row, gate_net_->forward(pooled)}, -1);
    OperatorParameters parameters = split(row, options_.streams, options_.branch);
    if (penalises_gate_alone(options_)) {
      parameters.penalised_gamma = torch::sigmoid(gate_net_->forward(pooled.detach()));
    }
    return parameters;
  }

  std::unique_ptr<GeneratorDecoding> decoding() const override {
    const torch::NoGradGuard no_grad;
    const nn::Net::Layers net = nn::Net::joined(nets());
    if (!has_gate(options_.branch)) return std::make_unique<NetDecoding>(ops::Norm(), net);
    return std::make_unique<NetDecoding>(net, ops::Affine{gate_net_->weight, gate_net_->bias});
  }

  std::vector<Tensor> tables() const override {
    if (!starts_live(options_)) return {};
    return {u_net_->output_bias(), v_net_->output_bias()};
  }

  void initialise() override {
    const torch::NoGradGuard no_grad;
    give_unit_length(tables());
    if (!has_gate(options_.branch)) return;
    torch::nn::init::zeros_(gate_net_->weight);
    torch::nn::init::constant_(gate_net_->bias, options_.init_gate_bias);
  }

 private:
  // In the order in which a row has their numbers.
  std::vector<const nn::Net*> nets() const {
    std::vector<const nn::Net*> all;
    for (const auto& net : {u_net_, v_net_, beta_net_, k_net_}) {
      if (net) all.push_back(net.get());
    }
    return all;
  }

  GeneratorOptions options_;
  std::shared_ptr<nn::Net> u_net_, v_net_, beta_net_, k_net_;
  torch::nn::Linear gate_net_{nullptr};
};

class JointGenerator : public Generator {
 public:
  explicit JointGenerator(const GeneratorOptions& options)
      : options_(options),
        norm_(register_module("norm", std::make_shared<nn::LayerNorm>(options.width, true))),
        geo_proj_(register_module(
            "geo_proj", std::make_shared<nn::Net>(options.width, options.hidden,
                                                  row_length(options.streams, options.branch)))) {}

  OperatorParameters generate(const Tensor& pooled) override {
    OperatorParameters parameters = parameters_of(pooled);
    if (penalises_gate_alone(options_)) {
      parameters.penalised_gamma = parameters_of(pooled.detach()).gamma;
    }
    return parameters;
  }

  std::unique_ptr<GeneratorDecoding> decoding() const override {
    return std::make_unique<NetDecoding>(norm_->norm(), geo_proj_->layers());
  }

  std::vector<Tensor> tables() const override {
    if (!starts_live(options_)) return {};
    return directions(geo_proj_->output_bias(), options_.streams);
  }

  void initialise() override {
    const torch::NoGradGuard no_grad;
    give_unit_length(tables());
    if (!has_gate(options_.branch)) return;
    geo_proj_->output_bias()[-1].fill_(options_.init_gate_bias);
  }

 private:
  OperatorParameters parameters_of(const Tensor& pooled) const {
    return split(geo_proj_->forward(ops::normalise(pooled, norm_->norm())), options_.streams,
                 options_.branch);
  }

  GeneratorOptions options_;
  std::shared_ptr<nn::LayerNorm> norm_;
  std::shared_ptr<nn::Net> geo_proj_;
};

class FixedGenerator : public Generator {
 public:
  explicit FixedGenerator(const GeneratorOptions& options)
      : options_(options),
        row_(register_parameter("geometry",
                                torch::empty({row_length(options.streams, options.branch)}))) {
    // Not zero: at u = v = 0 the rotation, and at k = 0 the reflection, has no gradient.
    torch::nn::init::normal_(row_, 0, options.init_std);
    initialise();
  }

  OperatorParameters generate(const Tensor& pooled) override {
    return split(row_.expand({pooled.size(0), 1, -1}), options_.streams, options_.branch);
  }

  std::unique_ptr<GeneratorDecoding> decoding() const override {
    return std::make_unique<FixedDecoding>(row_);
  }

  std::vector<Tensor> tables() const override { return {row_}; }

  void initialise() override {
    const torch::NoGradGuard no_grad;
    if (starts_live(options_)) give_unit_length(directions(row_, options_.streams));
    if (!has_gate(options_.branch)) return;
    row_[-1].fill_(options_.init_gate_bias);
  }

 private:
  GeneratorOptions options_;
  Tensor row_;
};

}  // namespace

std::shared_ptr<Generator> make_net_generator(const GeneratorOptions& options) {
  return std::make_shared<NetGenerator>(options);
}

std::shared_ptr<Generator> make_joint_generator(const GeneratorOptions& options) {
  return std::make_shared<JointGenerator>(options);
}

std::shared_ptr<Generator> make_fixed_generator(const GeneratorOptions& options) {
  return std::make_shared<FixedGenerator>(options);
}

}  // namespace edelta::geometry
