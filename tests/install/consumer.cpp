#include <edelta/models/model.h>
#include <edelta/ops/cayley.h>

#include <iostream>

int main() {
  const auto u = torch::randn({1, 4}), v = torch::randn({1, 4}), beta = torch::ones({1, 1});
  const auto q = edelta::ops::cayley_matrix(u, v, beta);
  const auto error = (q.transpose(-2, -1).matmul(q) - torch::eye(4)).abs().max().item<double>();

  edelta::models::ModelConfig config;
  config.model = "edelta";
  config.input_dim = 3;
  auto model = std::make_shared<edelta::models::Model>(config);
  const auto prediction = model->forward(torch::randn({2, 10, 3}));

  std::cout << "orthogonality error " << error << ", prediction " << prediction.sizes() << "\n";
  return error < 2e-6 && prediction.size(2) == 3 ? 0 : 1;
}
