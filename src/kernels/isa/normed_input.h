// The input side that the linear layer and the MLP share: LN?(x) in front of the first product, and
// the way back through it.
#pragma once

#include <cstdint>

#include "kernels/gemm.h"
#include "kernels/isa/layer_norm.h"
#include "kernels/isa/past_caches.h"
#include "kernels/isa/rows.h"
#include "kernels/isa/tile_product.h"
#include "kernels/isa/token_tiles.h"
#include "kernels/scratch.h"

namespace edelta::kernels::EDELTA_ISA {

// The norm in front of a layer; only the linear layer may have an RMS norm there.
template <typename Arguments>
inline LayerNorm norm_of(const Arguments& a) {
  LayerNorm norm{a.in, a.norm_weight, a.norm_bias, false};
  if constexpr (requires { a.rms; }) norm.rms = a.rms;
  return norm;
}

// Gives the rows of a tile as the first product takes them: normalised into the thread's scratch
// memory, or x itself when there is no layer norm.
class NormedInput {
 public:
  template <typename Arguments>
  NormedInput(const Arguments& a, const TokenTiles& tiles, Scratch& scratch)
      : norm_(norm_of(a)), x_(a.x), tiles_(tiles) {
    if (norm_.weight == nullptr) return;
    memory_ = scratch.floats(tiles.threads() * tiles.rows() * padded(a.in));
  }

  int64_t stride() const { return norm_.weight == nullptr ? norm_.width : padded(norm_.width); }

  // Computes the moments, and saves them where asked to.
  const float* forward(int64_t tile, int thread, float eps, float* mean, float* rstd) const {
    const auto row_moments = [=, this](int64_t token) {
      const Moments m = moments(norm_, x_ + token * norm_.width, eps);
      if (mean != nullptr) mean[token] = m.mean;
      if (rstd != nullptr) rstd[token] = m.rstd;
      return m;
    };
    return rows(tile, thread, row_moments);
  }

  const float* again(int64_t tile, int thread, const float* mean, const float* rstd) const {
    return rows(tile, thread, [=](int64_t token) { return Moments{mean[token], rstd[token]}; });
  }

 private:
  template <typename RowMoments>
  const float* rows(int64_t tile, int thread, const RowMoments& row_moments) const {
    const int64_t first = tiles_.first(tile);
    if (norm_.weight == nullptr) return x_ + first * norm_.width;
    float* normed = memory_ + thread * tiles_.rows() * stride();
    for (int64_t r = 0; r < tiles_.rows(tile); ++r) {
      const float* x = x_ + (first + r) * norm_.width;
      normalize(norm_, x, row_moments(first + r), normed + r * stride());
    }
    return normed;
  }

  LayerNorm norm_;
  const float* x_;
  TokenTiles tiles_;
  float* memory_ = nullptr;
};

// dx and the gradients of the norm, from the gradient `da` at the output of the first product,
// whose weight W[k×in] is read as it is stored: dn = da·W.
template <typename Arguments>
class InputGradient {
 public:
  // `adds`: something is added to dx.
  InputGradient(const Arguments& a, const TokenTiles& tiles, int64_t k, int64_t da_stride,
                bool adds, Scratch& scratch)
      : a_(a),
        norm_(norm_of(a)),
        tiles_(tiles),
        past_caches_(outgrows_caches(a.tokens * a.in)),
        stride_(normed() ? padded(a.in) : a.in),
        product_(
            TileProduct::of_rows(tiles, a.in, k, {da_stride, a.in, stride_},
                                 !normed() && adds ? Gemm::C::accumulate : Gemm::C::overwrite)) {
    if (normed()) memory_ = scratch.floats(tiles.threads() * tiles.rows() * stride_);
  }

  // `straight`: the tile's rows of what is added to dx, or null. `dnorm_weight` and `dnorm_bias`
  // are the thread's sums, or null.
  void operator()(int64_t tile, int thread, const float* da, const float* weight,
                  const float* straight, float* dnorm_weight, float* dnorm_bias) const {
    const int64_t first = tiles_.first(tile) * a_.in;
    const int64_t rows = tiles_.rows(tile);
    if (!normed()) {
      if (a_.dx == nullptr) return;
      start_rows(rows, a_.in, straight, nullptr, a_.dx + first);
      product_(rows, da, weight, a_.dx + first);
      return;
    }
    if (a_.dx == nullptr && dnorm_weight == nullptr && dnorm_bias == nullptr) return;
    float* dn = memory_ + thread * tiles_.rows() * stride_;
    product_(rows, da, weight, dn);
    if (dnorm_bias != nullptr) add_rows(rows, a_.in, dn, stride_, dnorm_bias);
    for (int64_t r = 0; r < rows; ++r) {
      norm_row_backward(tiles_.first(tile) + r, dn + r * stride_, at_or_null(straight, r * a_.in),
                        dnorm_weight);
    }
    if (past_caches_) fence_past_caches();
  }

 private:
  bool normed() const { return norm_.weight != nullptr; }

  void norm_row_backward(int64_t token, float* dn, const float* straight,
                         float* dnorm_weight) const {
    const int64_t at = token * a_.in;
    const Moments m{a_.mean[token], a_.rstd[token]};
    if (dnorm_weight != nullptr) add_norm_weight_gradient(norm_, a_.x + at, m, dn, dnorm_weight);
    if (a_.dx == nullptr) return;
    if (!past_caches_) {
      normalize_backward(norm_, a_.x + at, m, dn, straight, a_.dx + at);
      return;
    }
    normalize_backward(norm_, a_.x + at, m, dn, straight, dn);
    copy_past_caches(dn, a_.in, a_.dx + at);
  }

  const Arguments& a_;
  LayerNorm norm_;
  TokenTiles tiles_;
  bool past_caches_;
  int64_t stride_;
  TileProduct product_;
  float* memory_ = nullptr;
};

}  // namespace edelta::kernels::EDELTA_ISA
