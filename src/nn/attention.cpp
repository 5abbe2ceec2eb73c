#include "edelta/ops/attention.h"

#include <cstring>

#include "kernels/attention.h"
#include "kernels/cached_attention.h"
#include "kernels/scratch.h"
#include "nn/enclosed_sublayer.h"
#include "nn/row_map.h"

namespace edelta::nn {
namespace {

using torch::Tensor;

// Keys and values of every position so far.
class KeyValueCache {
 public:
  KeyValueCache(int64_t heads, int64_t head_size, const DecodingRoom& room)
      : heads_(heads),
        size_(head_size),
        capacity_(room.positions),
        keys_(torch::empty({room.sequences, heads, capacity_, head_size})),
        values_(torch::empty_like(keys_)) {}

  // Keeps what rows qkv [rows, 3·h·s] have.
  void keep(const Stretch& stretch, const float* qkv) {
    const int64_t width = heads_ * size_;
    for (int64_t row = 0; row < stretch.rows(); ++row, qkv += 3 * width) {
      const int64_t sequence = stretch.sequence + row / stretch.length;
      const int64_t position = stretch.begin + row % stretch.length;
      for (int64_t head = 0; head < heads_; ++head) {
        const int64_t to = ((sequence * heads_ + head) * capacity_ + position) * size_;
        std::memcpy(keys_.data_ptr<float>() + to, qkv + width + head * size_, bytes());
        std::memcpy(values_.data_ptr<float>() + to, qkv + 2 * width + head * size_, bytes());
      }
    }
  }

  // What the stretch's one position attends to.
  void attend(const Stretch& stretch, const float* qkv, float* out) const {
    const int64_t width = heads_ * size_;
    const int64_t from = stretch.sequence * width * capacity_;
    kernels::cached_attention({.sequences = stretch.sequences,
                               .heads = heads_,
                               .head_size = size_,
                               .positions = stretch.begin + 1,
                               .capacity = capacity_,
                               .stride = 3 * width,
                               .query = qkv,
                               .keys = keys_.data_ptr<float>() + from,
                               .values = values_.data_ptr<float>() + from,
                               .out = out});
  }

 private:
  size_t bytes() const { return static_cast<size_t>(size_) * sizeof(float); }

  int64_t heads_, size_, capacity_;
  Tensor keys_, values_;  // [sequences, h, positions, s]
};

class AttentionDecoding : public SubLayerDecoding {
 public:
  AttentionDecoding(int64_t heads, const NormedMap& first, const ops::Affine& last,
                    const DecodingRoom& room)
      : heads_(heads),
        size_(last.weight.size(1) / heads),
        first_(first.norm, first.map),
        last_({}, last),
        cache_(heads, size_, room) {}

  void operator()(const Stretch& stretch, const float* x, const float* residual,
                  float* y) override {
    kernels::Scratch scratch;
    float* qkv = scratch.floats(stretch.rows() * first_.out());
    float* mixed = scratch.floats(stretch.rows() * last_.in());
    first_(stretch.rows(), x, qkv);
    cache_.keep(stretch, qkv);
    if (stretch.length == 1) {
      cache_.attend(stretch, qkv, mixed);
    } else {
      kernels::attention_forward(
          {{stretch.sequences, stretch.length, heads_, size_}, qkv, mixed, /*lse=*/nullptr});
    }
    last_(stretch.rows(), mixed, y, residual);
  }

 private:
  int64_t heads_, size_;
  RowMap first_, last_;
  KeyValueCache cache_;
};

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
                 const ops::DropoutPass& pass) override {
    const Entry entry = enter(x, norm, around, c_attn_);
    const Tensor qkv = ops::linear(entry.x, entry.norm, entry.map);
    const Tensor mixed = ops::causal_attention(qkv, heads_, dropout(0, pass));
    const ops::Dropout output_dropout = dropout(1, pass);
    return leave(x.numel() / x.size(-1), around, c_proj_, output_dropout,
                 [&](const ops::Affine& map, const Tensor& residual) {
                   return ops::linear(mixed, {}, map, residual, output_dropout);
                 });
  }

  std::unique_ptr<SubLayerDecoding> decoding(const ops::Norm& norm, const Around& around,
                                             const DecodingRoom& room) const override {
    return std::make_unique<AttentionDecoding>(heads_, folded_first(norm, around, c_attn_),
                                               folded_last(around, c_proj_), room);
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
