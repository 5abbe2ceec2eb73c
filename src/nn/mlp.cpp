#include "edelta/ops/mlp.h"

#include "nn/enclosed_sublayer.h"
#include "nn/row_map.h"

namespace edelta::nn {
namespace {

using torch::Tensor;

class MlpDecoding : public SubLayerDecoding {
 public:
  MlpDecoding(const NormedMap& first, const ops::Affine& last)
      : net_(first.norm, first.map, last) {}

  void operator()(const Stretch& stretch, const float* x, const float* residual,
                  float* y) override {
    net_(stretch.rows(), x, y, residual);
  }

 private:
  RowNet net_;
};

class Mlp : public EnclosedSubLayer {
 public:
  explicit Mlp(const SubLayerOptions& options)
      : EnclosedSubLayer(options),
        c_fc_(register_module("c_fc", make_linear(options.width, 4 * options.width, options.bias))),
        c_proj_(register_module("c_proj",
                                make_linear(4 * options.width, options.width, options.bias))) {}

  Tensor forward(const Tensor& x, const ops::Norm& norm, const Around& around,
                 const ops::DropoutPass& pass) override {
    const Entry entry = enter(x, norm, around, c_fc_);
    const ops::Dropout output_dropout = dropout(0, pass);
    return leave(x.numel() / x.size(-1), around, c_proj_, output_dropout,
                 [&](const ops::Affine& map, const Tensor& residual) {
                   return ops::mlp(entry.x, entry.norm, entry.map, map, residual, output_dropout);
                 });
  }

  std::unique_ptr<SubLayerDecoding> decoding(const ops::Norm& norm, const Around& around,
                                             const DecodingRoom&) const override {
    return std::make_unique<MlpDecoding>(folded_first(norm, around, c_fc_),
                                         folded_last(around, c_proj_));
  }

 private:
  torch::nn::Linear c_fc_, c_proj_;
};

}  // namespace

std::shared_ptr<SubLayer> make_mlp(const SubLayerOptions& options) {
  return std::make_shared<Mlp>(options);
}

}  // namespace edelta::nn
