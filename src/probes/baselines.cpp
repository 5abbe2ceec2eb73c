#include "edelta/probes/baselines.h"

#include "edelta/torch.h"

#include "base/required_fields.h"

namespace edelta::probes {
namespace {

using torch::Tensor;

// Of so many sequences float64 copies are made at a time.
constexpr int64_t kSequencesAtOnce = 256;

// Directions of the inputs with less than a millionth of the largest one's length are left alone;
// squares of lengths are what is compared.
constexpr double kSmallestSquare = 1e-12;

// What a linear predictor sees at each position, [N, T, features] in float64.
using Features = Tensor (*)(const Tensor& x);

Tensor input(const Tensor& x) { return x.to(torch::kFloat64); }

// The input and the one before it, which at the first position is 0.
Tensor last_two_inputs(const Tensor& x) {
  const Tensor now = input(x);
  Tensor before = torch::zeros_like(now);
  const int64_t last = now.size(1) - 1;
  before.narrow(1, 1, last).copy_(now.narrow(1, 0, last));
  return torch::cat({now, before}, -1);
}

Tensor mean_so_far(const Tensor& x) {
  const Tensor positions = torch::arange(1, x.size(1) + 1, torch::kFloat64);
  return input(x).cumsum(1) / positions.unsqueeze(-1);
}

Tensor rows(const Tensor& sequences) { return sequences.reshape({-1, sequences.size(-1)}); }

// The map W of least squares, y ≈ z W, over the training split: by its normal equations, so that no
// more than a few sequences are there in float64 at a time.
Tensor fit(const data::Dataset& data, Features features) {
  Tensor products, targets;
  for (int64_t begin = 0; begin < data.train_x.size(0); begin += kSequencesAtOnce) {
    const int64_t count = std::min(kSequencesAtOnce, data.train_x.size(0) - begin);
    const Tensor z = rows(features(data.train_x.narrow(0, begin, count)));
    const Tensor y = rows(input(data.train_y.narrow(0, begin, count)));
    const Tensor zz = z.t().matmul(z), zy = z.t().matmul(y);
    products = products.defined() ? products + zz : zz;
    targets = targets.defined() ? targets + zy : zy;
  }
  return torch::linalg_pinv(products, kSmallestSquare, /*hermitian=*/true).matmul(targets);
}

double loss_of(const Tensor& prediction, const data::Dataset& data) {
  return (prediction - input(data.val_y)).square().mean().item<double>();
}

}  // namespace

std::vector<Baseline> measure_baselines(const data::Dataset& data) {
  const torch::NoGradGuard no_gradient;
  const auto linear = [&](Features features) {
    return loss_of(features(data.val_x).matmul(fit(data, features)), data);
  };
  return {{"zero", loss_of(torch::zeros_like(input(data.val_y)), data)},
          {"the input again", loss_of(input(data.val_x), data)},
          {"mean of the inputs so far", loss_of(mean_so_far(data.val_x), data)},
          {"linear map of the input", linear(input)},
          {"linear map of the last two inputs", linear(last_two_inputs)}};
}

nlohmann::ordered_json to_json(const std::vector<Baseline>& baselines) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Baseline& each : baselines) list.push_back({{"name", each.name}, {"loss", each.loss}});
  return {{"baselines", list}};
}

std::vector<Baseline> baselines_from_json(const nlohmann::json& json, const std::string& source) {
  std::vector<Baseline> baselines;
  with_source(source, [&] {
    for (const nlohmann::json& each : base::required_list(json, "baselines")) {
      baselines.push_back(
          {base::required<std::string>(each, "name"), base::required_number(each, "loss")});
    }
  });
  return baselines;
}

}  // namespace edelta::probes
