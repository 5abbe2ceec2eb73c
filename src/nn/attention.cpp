#include "edelta/ops/attention.h"

#include "nn/enclosed_sublayer.h"

namespace edelta::nn {
namespace {

using torch::Tensor;

class Attention : public EnclosedSubLayer {
 public:
  explicit Attention(const SubLayerOptions& options)
      : EnclosedSubLayer(options),
        heads_(options.heads),
        c_attn_(
            register_module("c_attn", make_linear(options.width, 3 * options.width, options.bias))),
        c_proj_(
            register_module("c_proj", make_linear(options.width, options.width, options.bias))) {}

  Tensor forward(const Tensor& x, const ops::Norm& norm, const Around& around,
                 uint64_t dropout_key) override {
    const Entry entry = enter(x, norm, around, c_attn_);
    const Tensor qkv = ops::linear(entry.x, entry.norm, entry.map);
    const Tensor mixed = ops::causal_attention(qkv, heads_, dropout(0, dropout_key));
    const ops::Dropout output_dropout = dropout(1, dropout_key);
    return leave(x.numel() / x.size(-1), around, c_proj_, output_dropout,
                 [&](const ops::Affine& map, const Tensor& residual) {
                   return ops::linear(mixed, {}, map, residual, output_dropout);
                 });
  }

 private:
  int64_t heads_;
  torch::nn::Linear c_attn_, c_proj_;
};

}  // namespace

std::shared_ptr<SubLayer> make_attention(const SubLayerOptions& options) {
  return std::make_shared<Attention>(options);
}

}  // namespace edelta::nn
