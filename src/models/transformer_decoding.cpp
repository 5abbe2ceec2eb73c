#include "models/transformer_decoding.h"

#include <algorithm>

#include "kernels/scratch.h"

namespace edelta::models {

TransformerDecoding::TransformerDecoding(
    const TokenTables& tables, std::vector<std::unique_ptr<ConnectionDecoding>> connections,
    nn::RowMap head)
    : wte_(tables.wte.detach()),
      wpe_(tables.wpe.detach()),
      connections_(std::move(connections)),
      head_(std::move(head)) {}

void TransformerDecoding::embed(const nn::Stretch& stretch, const int32_t* tokens, float* x) const {
  const int64_t width = head_.in();
  for (int64_t row = 0; row < stretch.rows(); ++row) {
    const float* token = wte_.data_ptr<float>() + tokens[row] * width;
    const float* position = wpe_.data_ptr<float>() + (stretch.begin + row % stretch.length) * width;
    x = std::transform(token, token + width, position, x, std::plus<>());
  }
}

void TransformerDecoding::operator()(const nn::Stretch& stretch, const int32_t* tokens,
                                     float* logits) {
  kernels::Scratch scratch;
  const int64_t width = head_.in();
  float* x = scratch.floats(stretch.rows() * width);
  float* y = scratch.floats(stretch.rows() * width);
  embed(stretch, tokens, x);
  for (const auto& connection : connections_) {
    (*connection)(stretch, x, y);
    std::swap(x, y);
  }
  for (int64_t s = 0; s < stretch.sequences; ++s) {
    std::copy_n(x + ((s + 1) * stretch.length - 1) * width, width, y + s * width);
  }
  head_(stretch.sequences, y, logits);
}

}  // namespace edelta::models
