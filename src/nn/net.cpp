#include "edelta/nn/net.h"

#include "edelta/ops/mlp.h"

namespace edelta::nn {

Net::Net(int64_t in, int64_t hidden, int64_t out)
    : first_(register_module("0", torch::nn::Linear(in, hidden))),
      second_(register_module("2", torch::nn::Linear(hidden, out))) {}

torch::Tensor Net::forward(const torch::Tensor& x) const {
  const Layers own = layers();
  return ops::mlp(x, {}, own.first, own.second);
}

Net::Layers Net::joined(const std::vector<const Net*>& nets) {
  std::vector<torch::Tensor> first, first_bias, second, second_bias;
  for (const Net* net : nets) {
    first.push_back(net->first_->weight);
    first_bias.push_back(net->first_->bias);
    second.push_back(net->second_->weight);
    second_bias.push_back(net->second_->bias);
  }
  return {{torch::cat(first), torch::cat(first_bias)},
          {torch::block_diag(second), torch::cat(second_bias)}};
}

torch::Tensor Net::forward_all(const std::vector<const Net*>& nets, const torch::Tensor& x) {
  const Layers all = joined(nets);
  return ops::mlp(x, {}, all.first, all.second);
}

}  // namespace edelta::nn
