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

// What is made of a few sequences: predictions, or what a linear predictor sees at each position,
// [N, T, features] in float64.
using Features = Tensor (*)(const Tensor& x);

Tensor input(const Tensor& x) { return x.to(torch::kFloat64); }

Tensor zero(const Tensor& x) { return torch::zeros_like(input(x)); }

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

// Calls what(x, y) for a few sequences of a split at a time.
template <typename What>
void for_parts(const Tensor& x, const Tensor& y, const What& what) {
  for (int64_t begin = 0; begin < x.size(0); begin += kSequencesAtOnce) {
    const int64_t count = std::min(kSequencesAtOnce, x.size(0) - begin);
    what(x.narrow(0, begin, count), y.narrow(0, begin, count));
  }
}

// The map W of least squares, y ≈ z W, over the training split: by its normal equations, so that no
// more than a few sequences are there in float64 at a time.
Tensor fit(const data::Dataset& data, Features features) {
  Tensor products, targets;
  for_parts(data.train_x, data.train_y, [&](const Tensor& x_part, const Tensor& y_part) {
    const Tensor z = rows(features(x_part));
    const Tensor y = rows(input(y_part));
    const Tensor zz = z.t().matmul(z), zy = z.t().matmul(y);
    products = products.defined() ? products + zz : zz;
    targets = targets.defined() ? targets + zy : zy;
  });
  return torch::linalg_pinv(products, kSmallestSquare, /*hermitian=*/true).matmul(targets);
}

// The mean squared error of the features, through a linear map if there is one.
double loss_of(const data::Dataset& data, Features features, const Tensor& map = {}) {
  double sum = 0;
  for_parts(data.val_x, data.val_y, [&](const Tensor& x, const Tensor& y) {
    const Tensor z = features(x);
    sum += ((map.defined() ? z.matmul(map) : z) - input(y)).square().sum().item<double>();
  });
  return sum / static_cast<double>(data.val_y.numel());
}

}  // namespace

std::vector<Baseline> measure_baselines(const data::Dataset& data) {
  const torch::NoGradGuard no_gradient;
  const auto linear = [&](Features features) {
    return loss_of(data, features, fit(data, features));
  };
  return {{"zero", loss_of(data, zero)},
          {"the input again", loss_of(data, input)},
          {"mean of the inputs so far", loss_of(data, mean_so_far)},
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
