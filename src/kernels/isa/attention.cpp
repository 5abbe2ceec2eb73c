#include "edelta/kernels/attention.h"

#include <math.h>
#include <omp.h>

#include "kernels/gemm.h"
#include "kernels/isa/lanes.h"
#include "kernels/isa/transpose.h"
#include "kernels/isa/vector_exp.h"
#include "kernels/scratch.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

// Queries come in tiles of kTile rows. A tile's scores are computed for chunks of up to
// kChunkTiles·kTile keys, the last of them ending with the tile that holds the diagonal: a wide
// enough product for the GEMM, few rounds of the online softmax, and scores that stay in cache.
constexpr int64_t kTile = 32;
constexpr int64_t kChunkTiles = 8;
constexpr int64_t kPadding = 16;  // floats; keeps rows a power of two apart off the same cache sets

int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// The cut of one head's T×T scores. All tiles are whole: rows past the end are zero.
struct Tiling {
  explicit Tiling(const AttentionShape& shape)
      : tokens(shape.tokens),
        size(shape.head_size),
        query_rows(smaller(kTile, shape.tokens)),
        key_columns(smaller(kTile, round_up(shape.tokens, kLanes))),
        tiles((shape.tokens + query_rows - 1) / query_rows),
        keys(tiles * key_columns),
        chunk_tiles(smaller(kChunkTiles, tiles)),
        key_stride(keys + kPadding),
        score_stride(chunk_tiles * key_columns + kPadding),
        qkv_stride(3 * shape.heads * shape.head_size),
        out_stride(shape.heads * shape.head_size) {}

  int64_t rows_of(int64_t tile) const { return smaller(query_rows, tokens - tile * query_rows); }

  int64_t tokens, size;
  int64_t query_rows, key_columns, tiles, keys, chunk_tiles;
  int64_t key_stride;  // of the transposed keys and values
  int64_t score_stride;
  int64_t qkv_stride, out_stride;
};

// One head's place in the tensors.
struct Head {
  Head(const AttentionShape& shape, const Tiling& tiling, int64_t index)
      : query(index / shape.heads * shape.tokens * tiling.qkv_stride +
              index % shape.heads * shape.head_size),
        key(query + tiling.out_stride),
        value(key + tiling.out_stride),
        out(index / shape.heads * shape.tokens * tiling.out_stride +
            index % shape.heads * shape.head_size),
        lse(index * shape.tokens) {}

  int64_t query, key, value;  // into qkv
  int64_t out;
  int64_t lse;
};

// One product for each number of key tiles in a chunk.
class ChunkGemms {
 public:
  template <typename Make>
  ChunkGemms(const Tiling& tiling, const Make& make)
      : gemms_{of(tiling, make, 1), of(tiling, make, 2), of(tiling, make, 3), of(tiling, make, 4),
               of(tiling, make, 5), of(tiling, make, 6), of(tiling, make, 7), of(tiling, make, 8)} {
    static_assert(kChunkTiles == 8);
  }
  const Gemm& operator[](int64_t tiles) const { return gemms_[tiles - 1]; }

 private:
  template <typename Make>
  static Gemm of(const Tiling& tiling, const Make& make, int64_t tiles) {
    return make(smaller(tiles, tiling.chunk_tiles) * tiling.key_columns);
  }
  Gemm gemms_[kChunkTiles];
};

// to[padded_rows × size] = factor · from, zero past `rows`.
void pack_rows(const float* from, int64_t stride, int64_t rows, int64_t padded_rows, int64_t size,
               float factor, float* to) {
  for (int64_t i = 0; i < rows; ++i) {
#pragma omp simd
    for (int64_t c = 0; c < size; ++c) to[i * size + c] = factor * from[i * stride + c];
  }
  for (int64_t i = rows * size; i < padded_rows * size; ++i) to[i] = 0;
}

// to[size × keys] = fromᵀ, zero past the last token.
void pack_transposed(const float* from, const Tiling& tiling, float* to) {
  transpose(from, tiling.qkv_stride, tiling.tokens, tiling.size, to, tiling.key_stride);
  for (int64_t c = 0; c < tiling.size; ++c) {
    for (int64_t k = tiling.tokens; k < tiling.keys; ++k) to[c * tiling.key_stride + k] = 0;
  }
}

// Calls body(first key, key tiles) for the chunks of keys that the queries of `tile` see.
template <typename Body>
void for_chunks(const Tiling& tiling, int64_t tile, const Body& body) {
  for (int64_t first = 0; first <= tile; first += tiling.chunk_tiles) {
    body(first * tiling.key_columns, smaller(tiling.chunk_tiles, tile + 1 - first));
  }
}

// How much of a row of scores is real: `visible` columns, computed up to `computed` (whole
// vectors), zero from there to `width`.
struct RowRange {
  RowRange(int64_t query, int64_t first_key, int64_t chunk_width)
      : visible(smaller(query + 1 - first_key, chunk_width)),
        computed(smaller(round_up(visible, kLanes), chunk_width)),
        width(chunk_width) {}
  int64_t visible, computed, width;
};

void clear(float* row, int64_t begin, int64_t end) {
  for (int64_t j = begin; j < end; ++j) row[j] = 0;
}

// Scores to unnormalised probabilities exp(S − max), with the running maximum and sum of the row.
// Returns the factor by which what was summed before must shrink.
float softmax_row(float* row, RowRange range, float& maximum, float& total) {
  for (int64_t j = range.visible; j < range.computed; ++j) row[j] = -__builtin_inff();
  Lanes top = load<Lanes>(row);
  for (int64_t j = kLanes; j < range.computed; j += kLanes) top = larger(top, load<Lanes>(row + j));
  const float before = maximum;
  maximum = larger(before, largest(top));
  Lanes parts{};
  for (int64_t j = 0; j < range.computed; j += kLanes) {
    const Lanes p = vector_exp<Lanes>(load<Lanes>(row + j) - maximum);
    parts += p;
    store(row + j, p);
  }
  clear(row, range.computed, range.width);
  const float shrink = vector_exp(before - maximum);
  total = total * shrink + sum(parts);
  return shrink;
}

class ForwardHead {
 public:
  ForwardHead(const AttentionForward& arguments, const Tiling& tiling)
      : arguments_(arguments),
        tiling_(tiling),
        scale_(1 / sqrtf(static_cast<float>(tiling.size))),
        score_gemms_(tiling,
                     [&](int64_t width) {
                       return Gemm(tiling.query_rows, width, tiling.size,
                                   {tiling.size, tiling.key_stride, tiling.score_stride});
                     }),
        value_gemms_(tiling,
                     [&](int64_t width) {
                       return Gemm(tiling.query_rows, tiling.size, width,
                                   {tiling.score_stride, tiling.size, tiling.size}, Gemm::A::plain,
                                   Gemm::C::accumulate);
                     }),
        keys_(scratch_.floats(tiling.size * tiling.key_stride)),
        values_(scratch_.floats(tiling.keys * tiling.size)),
        query_(scratch_.floats(tiling.query_rows * tiling.size)),
        scores_(scratch_.floats(tiling.query_rows * tiling.score_stride)),
        sums_(scratch_.floats(tiling.query_rows * tiling.size)) {}

  // Query tiles first_tile, first_tile + step, … of one head.
  void run(int64_t index, int64_t first_tile, int64_t step) {
    const Head head(arguments_.shape, tiling_, index);
    pack_transposed(arguments_.qkv + head.key, tiling_, keys_);
    pack_rows(arguments_.qkv + head.value, tiling_.qkv_stride, tiling_.tokens, tiling_.keys,
              tiling_.size, 1, values_);
    for (int64_t tile = first_tile; tile < tiling_.tiles; tile += step) run_tile(head, tile);
  }

 private:
  void run_tile(const Head& head, int64_t tile) {
    const int64_t first_query = tile * tiling_.query_rows;
    const int64_t rows = tiling_.rows_of(tile);
    const int64_t size = tiling_.size;
    pack_rows(arguments_.qkv + head.query + first_query * tiling_.qkv_stride, tiling_.qkv_stride,
              rows, tiling_.query_rows, size, scale_, query_);
    float maximum[kTile], total[kTile];
    for (int64_t i = 0; i < kTile; ++i) maximum[i] = -__builtin_inff(), total[i] = 0;
    clear(sums_, 0, tiling_.query_rows * size);
    for_chunks(tiling_, tile, [&](int64_t first_key, int64_t tiles) {
      score_gemms_[tiles](query_, keys_ + first_key, scores_);
      for (int64_t i = 0; i < tiling_.query_rows; ++i) {
        const RowRange range(first_query + i, first_key, tiles * tiling_.key_columns);
        const float shrink =
            softmax_row(scores_ + i * tiling_.score_stride, range, maximum[i], total[i]);
        if (first_key > 0) scale_row(sums_ + i * size, shrink, sums_ + i * size);
      }
      value_gemms_[tiles](scores_, values_ + first_key * size, sums_);
    });
    for (int64_t i = 0; i < rows; ++i) {
      scale_row(sums_ + i * size, 1 / total[i],
                arguments_.out + head.out + (first_query + i) * tiling_.out_stride);
    }
    if (arguments_.lse == nullptr) return;
    for (int64_t i = 0; i < rows; ++i) {
      arguments_.lse[head.lse + first_query + i] = maximum[i] + logf(total[i]);
    }
  }

  void scale_row(const float* from, float factor, float* to) const {
#pragma omp simd
    for (int64_t c = 0; c < tiling_.size; ++c) to[c] = factor * from[c];
  }

  const AttentionForward& arguments_;
  const Tiling& tiling_;
  const float scale_;
  const ChunkGemms score_gemms_, value_gemms_;
  Scratch scratch_;
  float *keys_, *values_;  // Kᵀ [s × keys], V [keys × s]
  float *query_, *scores_;
  float* sums_;  // Σ exp(S − max)·V of the tile
};

class BackwardHead {
 public:
  BackwardHead(const AttentionBackward& arguments, const Tiling& tiling)
      : arguments_(arguments),
        tiling_(tiling),
        scale_(1 / sqrtf(static_cast<float>(tiling.size))),
        score_gemms_(tiling,
                     [&](int64_t width) {
                       return Gemm(tiling.query_rows, width, tiling.size,
                                   {tiling.size, tiling.key_stride, tiling.score_stride});
                     }),
        query_gemms_(tiling,
                     [&](int64_t width) {
                       return Gemm(tiling.query_rows, tiling.size, width,
                                   {tiling.score_stride, tiling.size, tiling.size}, Gemm::A::plain,
                                   Gemm::C::accumulate);
                     }),
        key_gemms_(tiling,
                   [&](int64_t width) {
                     return Gemm(width, tiling.size, tiling.query_rows,
                                 {tiling.score_stride, tiling.size, tiling.size},
                                 Gemm::A::transposed, Gemm::C::accumulate);
                   }),
        keys_(scratch_.floats(tiling.keys * tiling.size)),
        keys_transposed_(scratch_.floats(tiling.size * tiling.key_stride)),
        values_transposed_(scratch_.floats(tiling.size * tiling.key_stride)),
        query_(scratch_.floats(tiling.query_rows * tiling.size)),
        dout_(scratch_.floats(tiling.query_rows * tiling.size)),
        dquery_(scratch_.floats(tiling.query_rows * tiling.size)),
        scores_(scratch_.floats(tiling.query_rows * tiling.score_stride)),
        dscores_(scratch_.floats(tiling.query_rows * tiling.score_stride)) {}

  // The query tiles first_tile, first_tile + step, … of one head: writes their part of dq, and adds
  // up what they give to dk and dv in `dkeys` and `dvalues` [keys × s].
  void run(int64_t index, int64_t first_tile, int64_t step, float* dkeys, float* dvalues) {
    const Head head(arguments_.shape, tiling_, index);
    pack_rows(arguments_.qkv + head.key, tiling_.qkv_stride, tiling_.tokens, tiling_.keys,
              tiling_.size, 1, keys_);
    pack_transposed(arguments_.qkv + head.key, tiling_, keys_transposed_);
    pack_transposed(arguments_.qkv + head.value, tiling_, values_transposed_);
    clear(dkeys, 0, tiling_.keys * tiling_.size);
    clear(dvalues, 0, tiling_.keys * tiling_.size);
    for (int64_t tile = first_tile; tile < tiling_.tiles; tile += step) {
      run_tile(head, tile, dkeys, dvalues);
    }
  }

 private:
  void run_tile(const Head& head, int64_t tile, float* dkeys, float* dvalues) {
    const int64_t first_query = tile * tiling_.query_rows;
    const int64_t rows = tiling_.rows_of(tile);
    const int64_t size = tiling_.size;
    const int64_t query_at = head.query + first_query * tiling_.qkv_stride;
    const int64_t out_at = head.out + first_query * tiling_.out_stride;
    pack_rows(arguments_.qkv + query_at, tiling_.qkv_stride, rows, tiling_.query_rows, size, scale_,
              query_);
    pack_rows(arguments_.dout + out_at, tiling_.out_stride, rows, tiling_.query_rows, size, 1,
              dout_);
    // Σ_k P_k dP_k = out·dout: what the softmax takes off each dP. Rows past the end have P = 1 and
    // dout = 0, hence no effect.
    float lse[kTile] = {}, mean[kTile] = {};
    for (int64_t i = 0; i < rows; ++i) {
      lse[i] = arguments_.lse[head.lse + first_query + i];
      mean[i] = dot(arguments_.out + out_at + i * tiling_.out_stride, dout_ + i * size);
    }
    clear(dquery_, 0, tiling_.query_rows * size);
    for_chunks(tiling_, tile, [&](int64_t first_key, int64_t tiles) {
      score_gemms_[tiles](query_, keys_transposed_ + first_key, scores_);
      score_gemms_[tiles](dout_, values_transposed_ + first_key, dscores_);
      for (int64_t i = 0; i < tiling_.query_rows; ++i) {
        const RowRange range(first_query + i, first_key, tiles * tiling_.key_columns);
        softmax_row_backward(scores_ + i * tiling_.score_stride,
                             dscores_ + i * tiling_.score_stride, range, lse[i], mean[i]);
      }
      key_gemms_[tiles](scores_, dout_, dvalues + first_key * size);
      key_gemms_[tiles](dscores_, query_, dkeys + first_key * size);
      query_gemms_[tiles](dscores_, keys_ + first_key * size, dquery_);
    });
    for (int64_t i = 0; i < rows; ++i) {
      float* to = arguments_.dqkv + query_at + i * tiling_.qkv_stride;
#pragma omp simd
      for (int64_t c = 0; c < size; ++c) to[c] = scale_ * dquery_[i * size + c];
    }
  }

  // S → P = exp(S − lse) and dP → dS = P∘(dP − mean), both zero where masked.
  static void softmax_row_backward(float* row, float* drow, RowRange range, float lse, float mean) {
    for (int64_t j = range.visible; j < range.computed; ++j) row[j] = -__builtin_inff();
    for (int64_t j = 0; j < range.computed; j += kLanes) {
      const Lanes p = vector_exp<Lanes>(load<Lanes>(row + j) - lse);
      store(row + j, p);
      store<Lanes>(drow + j, p * (load<Lanes>(drow + j) - mean));
    }
    clear(row, range.computed, range.width);
    clear(drow, range.computed, range.width);
  }

  float dot(const float* a, const float* b) const {
    float total = 0;
#pragma omp simd reduction(+ : total)
    for (int64_t c = 0; c < tiling_.size; ++c) total += a[c] * b[c];
    return total;
  }

  const AttentionBackward& arguments_;
  const Tiling& tiling_;
  const float scale_;
  const ChunkGemms score_gemms_, query_gemms_, key_gemms_;
  Scratch scratch_;
  float *keys_, *keys_transposed_, *values_transposed_;
  float *query_, *dout_, *dquery_;  // of the tile; query_ and hence dkeys carry the scale 1/√s
  float *scores_, *dscores_;
};

// Into how many groups of query tiles a head is cut, so that every thread finds work.
int64_t groups_for(const AttentionShape& shape, const Tiling& tiling) {
  const int64_t heads = shape.batch * shape.heads;
  const int64_t wanted = 4 * omp_get_max_threads();
  return heads >= wanted ? 1 : smaller((wanted + heads - 1) / heads, tiling.tiles);
}

// to = Σ over groups, in their order.
void sum_groups(const float* parts, int64_t group_stride, int64_t groups, const Tiling& tiling,
                float* to) {
  for (int64_t t = 0; t < tiling.tokens; ++t) {
    for (int64_t c = 0; c < tiling.size; ++c) {
      float total = 0;
      for (int64_t g = 0; g < groups; ++g) total += parts[g * group_stride + t * tiling.size + c];
      to[t * tiling.qkv_stride + c] = total;
    }
  }
}

}  // namespace

void attention_forward(const AttentionForward& arguments) {
  const Tiling tiling(arguments.shape);
  const int64_t groups = groups_for(arguments.shape, tiling);
  const int64_t items = arguments.shape.batch * arguments.shape.heads * groups;
#pragma omp parallel
  {
    ForwardHead head(arguments, tiling);
#pragma omp for schedule(dynamic)
    for (int64_t item = 0; item < items; ++item) head.run(item / groups, item % groups, groups);
  }
}

void attention_backward(const AttentionBackward& arguments) {
  const Tiling tiling(arguments.shape);
  const int64_t groups = groups_for(arguments.shape, tiling);
  const int64_t heads = arguments.shape.batch * arguments.shape.heads;
  const int64_t part = tiling.keys * tiling.size;
  // dk and dv of each group of each head; with one group a thread stores them while still in cache.
  Scratch shared;
  float* parts = groups > 1 ? shared.floats(heads * groups * 2 * part) : nullptr;
  const auto write = [&](int64_t index, const float* of_head) {
    const Head head(arguments.shape, tiling, index);
    sum_groups(of_head, 2 * part, groups, tiling, arguments.dqkv + head.key);
    sum_groups(of_head + part, 2 * part, groups, tiling, arguments.dqkv + head.value);
  };
#pragma omp parallel
  {
    BackwardHead head(arguments, tiling);
    Scratch scratch;
    float* own = scratch.floats(2 * part);
#pragma omp for schedule(dynamic)
    for (int64_t item = 0; item < heads * groups; ++item) {
      float* dkeys = groups > 1 ? parts + item * 2 * part : own;
      head.run(item / groups, item % groups, groups, dkeys, dkeys + part);
      if (groups == 1) write(item, dkeys);
    }
    if (groups > 1) {
#pragma omp for
      for (int64_t index = 0; index < heads; ++index) {
        write(index, parts + index * groups * 2 * part);
      }
    }
  }
}

}  // namespace edelta::kernels::EDELTA_ISA
