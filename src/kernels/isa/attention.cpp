#include "kernels/attention.h"

#include <math.h>
#include <omp.h>

#include <utility>

#include "kernels/gemm.h"
#include "kernels/isa/dropout_factors.h"
#include "kernels/isa/lanes.h"
#include "kernels/isa/look_ahead.h"
#include "kernels/isa/past_caches.h"
#include "kernels/isa/transpose.h"
#include "kernels/isa/vector_exp.h"
#include "kernels/scratch.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

// Queries come in tiles of kQueries. A tile's scores are computed for chunks of up to kChunkTiles
// tiles of keys, the last chunk, if causal, ending with the tile that holds the diagonal. Scores
// lie transposed, a row for each key and a lane for each query: maximum, sum and mask then are
// plain vector operations, and a chunk of 128 × 16 scores stays in the first cache between the
// product that makes it and those that use it. Small tiles waste little above the diagonal.
constexpr int64_t kQueries = 16;
constexpr int64_t kChunkTiles = 8;

// Scores are in base 2, S = log₂e·q·k/√s, the factor being in the packed queries: their softmax is
// a power of two, which takes fewer steps than e^x.
constexpr float kLog2OfE = 1.44269504F;
constexpr float kLnOf2 = 0.693147181F;

int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// The cut of one head's T×T scores. All tiles are whole: rows past the end are zero.
struct Tiling {
  Tiling(const AttentionShape& shape, bool only_past)
      : causal(only_past),
        tokens(shape.tokens),
        size(shape.head_size),
        queries(smaller(kQueries, round_up(shape.tokens, kLanes))),
        tiles((shape.tokens + queries - 1) / queries),
        keys(tiles * queries),
        chunk_tiles(smaller(kChunkTiles, tiles)),
        qkv_stride(3 * shape.heads * shape.head_size),
        out_stride(shape.heads * shape.head_size) {}

  int64_t rows_of(int64_t tile) const { return smaller(queries, tokens - tile * queries); }
  // Of the keys that the queries of a tile see.
  int64_t last_tile(int64_t tile) const { return causal ? tile : tiles - 1; }

  bool causal;
  int64_t tokens, size;
  int64_t queries;  // of a tile, whole vectors; a tile of keys has as many
  int64_t tiles, keys, chunk_tiles;
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

// A product of a chunk's scores, for each number of key tiles that a chunk may have.
class ChunkGemms {
 public:
  // `make`: from the number of keys to the product.
  template <typename Make>
  ChunkGemms(const Tiling& tiling, const Make& make)
      : ChunkGemms(tiling, make, std::make_integer_sequence<int64_t, kChunkTiles>()) {}
  const Gemm& operator[](int64_t tiles) const { return gemms_[tiles - 1]; }

 private:
  template <typename Make, int64_t... kTiles>
  ChunkGemms(const Tiling& tiling, const Make& make, std::integer_sequence<int64_t, kTiles...>)
      : gemms_{make(smaller(kTiles + 1, tiling.chunk_tiles) * tiling.queries)...} {}

  Gemm gemms_[kChunkTiles];
};

// [keys × q] = rows [keys × s] · tile [s × q].
ChunkGemms row_products(const Tiling& t) {
  return {t, [&](int64_t keys) {
            return Gemm(keys, t.queries, t.size, {t.size, t.queries, t.queries});
          }};
}
// tile [q × s] += scoresᵀ · rows [keys × s].
ChunkGemms sums_over_keys(const Tiling& t) {
  return {t, [&](int64_t keys) {
            return Gemm(t.queries, t.size, keys, {t.queries, t.size, t.size}, Gemm::A::transposed,
                        Gemm::C::accumulate);
          }};
}
// rows [keys × s] += scores [keys × q] · tile [q × s].
ChunkGemms sums_over_queries(const Tiling& t) {
  return {t, [&](int64_t keys) {
            return Gemm(keys, t.size, t.queries, {t.queries, t.size, t.size}, Gemm::A::plain,
                        Gemm::C::accumulate);
          }};
}

void clear(float* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values[i] = 0;
}

// to[padded_rows × size] = factor · from, zero past `rows`.
void pack_rows(const float* from, int64_t stride, int64_t rows, int64_t padded_rows, int64_t size,
               float factor, float* to) {
  for (int64_t i = 0; i < rows; ++i) {
    const float* row = from + i * stride;
#pragma omp simd
    for (int64_t c = 0; c < size; ++c) to[i * size + c] = factor * row[c];
  }
  clear(to + rows * size, (padded_rows - rows) * size);
}

// The rows of positions `first`, … turned by their angles, times `direction`, which is 1 or −1.
void turn_rows(const RotaryAngles& angles, int64_t first, int64_t rows, int64_t size,
               float direction, float* x) {
  if (angles.cos == nullptr) return;
  const int64_t half = size / 2;
  for (int64_t i = 0; i < rows; ++i) {
    const float* cos = angles.cos + (first + i) * size;
    const float* sin = angles.sin + (first + i) * size;
    float* left = x + i * size;
    float* right = left + half;
#pragma omp simd
    for (int64_t c = 0; c < half; ++c) {
      const float a = left[c], b = right[c], s = direction * sin[c];
      left[c] = a * cos[c] - b * s;
      right[c] = b * cos[c] + a * s;
    }
  }
}

// Calls body(first key, key tiles) for the chunks of keys that the queries of `tile` see.
template <typename Body>
void for_chunks(const Tiling& tiling, int64_t tile, const Body& body) {
  const int64_t last = tiling.last_tile(tile);
  for (int64_t first = 0; first <= last; first += tiling.chunk_tiles) {
    body(first * tiling.queries, smaller(tiling.chunk_tiles, last + 1 - first));
  }
}

// What the kLanes queries from `first_query` on see of a chunk of keys.
struct Sight {
  Sight(const Tiling& tiling, int64_t first_query, int64_t first_key, int64_t chunk_keys)
      : diagonal(tiling.causal ? first_query - first_key : chunk_keys),
        all(smaller(tiling.causal ? diagonal + 1 : tiling.tokens - first_key, chunk_keys)),
        some(tiling.causal ? smaller(diagonal + kLanes, chunk_keys) : all),
        keys(chunk_keys) {}

  // The scores of key k, −∞ where it comes after the query.
  Lanes visible(Lanes scores, int64_t k) const {
    Lanes query;
    for (int i = 0; i < kLanes; ++i) query[i] = static_cast<float>(i);
    return query >= static_cast<float>(k - diagonal) ? scores : Lanes{} - __builtin_inff();
  }

  int64_t diagonal;  // the chunk's key that is the first query; past all keys if not causal
  int64_t all;       // keys [0, all) are seen by every lane,
  int64_t some;      // [all, some) by some,
  int64_t keys;      // [some, keys) by none
};

// Scores to unnormalised probabilities 2^(S − max), with the running maximum and sum of each
// query. Returns the factor by which what was summed before must shrink.
Lanes softmax(float* scores, int64_t stride, const Sight& sight, Lanes& maximum, Lanes& total,
              LookAhead& ahead) {
  Lanes top[4] = {maximum, maximum, maximum, maximum};
  int64_t k = 0;
  for (; k + 4 <= sight.all; k += 4) {
    for (int i = 0; i < 4; ++i) top[i] = larger(top[i], load<Lanes>(scores + (k + i) * stride));
  }
  for (; k < sight.some; ++k) {
    top[0] = larger(top[0], sight.visible(load<Lanes>(scores + k * stride), k));
  }
  const Lanes before = maximum;
  maximum = larger(larger(top[0], top[1]), larger(top[2], top[3]));
  Lanes parts[2] = {};
  const auto turn = [&](float* row, Lanes s, Lanes& sum) {
    const Lanes p = exp2_of_negative(s - maximum);
    sum += p;
    store(row, p);
    ahead.fetch_line();
  };
  for (k = 0; k + 2 <= sight.all; k += 2) {
    turn(scores + k * stride, load<Lanes>(scores + k * stride), parts[0]);
    turn(scores + (k + 1) * stride, load<Lanes>(scores + (k + 1) * stride), parts[1]);
  }
  for (; k < sight.some; ++k) {
    float* row = scores + k * stride;
    turn(row, sight.visible(load<Lanes>(row), k), parts[0]);
  }
  for (; k < sight.keys; ++k) store(scores + k * stride, Lanes{});
  const Lanes shrink = exp2_of_negative(before - maximum);
  total = total * shrink + (parts[0] + parts[1]);
  return shrink;
}

// S → P = 2^(S − lse) and dP → dS = P∘(dP − mean), both zero where masked.
void softmax_backward(float* scores, float* dscores, int64_t stride, const Sight& sight, Lanes lse,
                      Lanes mean, LookAhead& ahead) {
  const auto turn = [&](int64_t k, Lanes s) {
    const Lanes p = exp2_of_negative(s - lse);
    store(scores + k * stride, p);
    store<Lanes>(dscores + k * stride, p * (load<Lanes>(dscores + k * stride) - mean));
    ahead.fetch_line();
  };
  int64_t k = 0;
  for (; k < sight.all; ++k) turn(k, load<Lanes>(scores + k * stride));
  for (; k < sight.some; ++k) turn(k, sight.visible(load<Lanes>(scores + k * stride), k));
  for (; k < sight.keys; ++k) {
    store(scores + k * stride, Lanes{});
    store(dscores + k * stride, Lanes{});
  }
}

// The factors of a head's dropout for a chunk of scores, in the scores' layout. They are drawn
// chunk by chunk, beside the scores in the first cache, and again in the backward pass.
class ChunkDropout {
 public:
  ChunkDropout(const DropoutMask& mask, const Tiling& tiling, Scratch& scratch)
      : mask_(mask), queries_(tiling.queries) {
    if (mask.drops()) factors_ = scratch.floats(tiling.chunk_tiles * queries_ * queries_);
  }

  // The chunk begins at a multiple of the tile, hence of a block.
  void draw(int64_t head, int64_t first_query, int64_t first_key, int64_t keys) {
    if (!mask_.drops()) return;
    for (int64_t k = 0; k < keys; k += kDropoutBlock) {
      draw_factors(mask_, mask_.first_plane + head, first_query, queries_,
                   (first_key + k) / kDropoutBlock, factors_ + k * queries_, queries_);
    }
  }

  // scores ∘= factors
  void apply(int64_t keys, float* scores) const {
    if (!mask_.drops()) return;
#pragma omp simd
    for (int64_t i = 0; i < keys * queries_; ++i) scores[i] *= factors_[i];
  }

 private:
  DropoutMask mask_;
  int64_t queries_;
  float* factors_ = nullptr;
};

class ForwardHead {
 public:
  ForwardHead(const AttentionForward& arguments, const Tiling& tiling)
      : arguments_(arguments),
        tiling_(tiling),
        query_scale_(kLog2OfE / sqrtf(static_cast<float>(tiling.size))),
        score_(row_products(tiling)),
        sum_values_(sums_over_keys(tiling)),
        keys_(scratch_.floats(tiling.keys * tiling.size)),
        values_(scratch_.floats(tiling.keys * tiling.size)),
        query_(scratch_.floats(tiling.queries * tiling.size)),
        query_transposed_(scratch_.floats(tiling.queries * tiling.size)),
        scores_(scratch_.floats(tiling.chunk_tiles * tiling.queries * tiling.queries)),
        sums_(scratch_.floats(tiling.queries * tiling.size)),
        dropout_(arguments.dropout, tiling, scratch_) {}

  // Query tiles first_tile, first_tile + step, … of one head; `next` is the head to run after it.
  void run(int64_t index, int64_t first_tile, int64_t step, int64_t next) {
    const Head head(arguments_.shape, tiling_, index);
    look_ahead(next);
    pack_rows(arguments_.qkv + head.key, tiling_.qkv_stride, tiling_.tokens, tiling_.keys,
              tiling_.size, 1, keys_);
    turn_rows(arguments_.rotary, 0, tiling_.tokens, tiling_.size, 1, keys_);
    pack_rows(arguments_.qkv + head.value, tiling_.qkv_stride, tiling_.tokens, tiling_.keys,
              tiling_.size, 1, values_);
    for (int64_t tile = first_tile; tile < tiling_.tiles; tile += step) run_tile(head, index, tile);
  }

 private:
  void look_ahead(int64_t next) {
    const Head head(arguments_.shape, tiling_, next);
    const int64_t stride = tiling_.qkv_stride;
    ahead_.aim({
        {arguments_.qkv + head.key, stride},
        {arguments_.qkv + head.value, stride},
        {arguments_.qkv + head.query, stride},
    });
  }

  void run_tile(const Head& head, int64_t index, int64_t tile) {
    const int64_t first_query = tile * tiling_.queries;
    const int64_t rows = tiling_.rows_of(tile);
    const int64_t size = tiling_.size;
    const int64_t stride = tiling_.queries;
    pack_rows(arguments_.qkv + head.query + first_query * tiling_.qkv_stride, tiling_.qkv_stride,
              rows, tiling_.queries, size, query_scale_, query_);
    turn_rows(arguments_.rotary, first_query, rows, size, 1, query_);
    transpose(query_, size, tiling_.queries, size, query_transposed_, stride);
    alignas(64) float maximum[kQueries], total[kQueries] = {}, shrink[kQueries];
    for (float& value : maximum) value = -__builtin_inff();
    clear(sums_, tiling_.queries * size);
    for_chunks(tiling_, tile, [&](int64_t first_key, int64_t tiles) {
      score_[tiles](keys_ + first_key * size, query_transposed_, scores_);
      for (int64_t q = 0; q < tiling_.queries; q += kLanes) {
        const Sight sight(tiling_, first_query + q, first_key, tiles * tiling_.queries);
        Lanes top = load<Lanes>(maximum + q), sum = load<Lanes>(total + q);
        store(shrink + q, softmax(scores_ + q, stride, sight, top, sum, ahead_));
        store(maximum + q, top);
        store(total + q, sum);
      }
      dropout_.draw(index, first_query, first_key, tiles * tiling_.queries);
      dropout_.apply(tiles * tiling_.queries, scores_);
      if (first_key > 0) {
        for (int64_t i = 0; i < rows; ++i) scale_row(sums_ + i * size, shrink[i], sums_ + i * size);
      }
      sum_values_[tiles](scores_, values_ + first_key * size, sums_);
    });
    for (int64_t i = 0; i < rows; ++i) {
      scale_row(sums_ + i * size, 1 / total[i],
                arguments_.out + head.out + (first_query + i) * tiling_.out_stride);
    }
    if (arguments_.lse == nullptr) return;
    for (int64_t i = 0; i < rows; ++i) {
      arguments_.lse[head.lse + first_query + i] = kLnOf2 * maximum[i] + logf(total[i]);
    }
  }

  void scale_row(const float* from, float factor, float* to) const {
#pragma omp simd
    for (int64_t c = 0; c < tiling_.size; ++c) to[c] = factor * from[c];
  }

  const AttentionForward& arguments_;
  const Tiling& tiling_;
  const float query_scale_;
  const ChunkGemms score_, sum_values_;
  Scratch scratch_;
  float *keys_, *values_;  // K and V [keys × s]
  float *query_, *query_transposed_;
  float* scores_;
  float* sums_;  // Σ 2^(S − max)·V of the tile
  ChunkDropout dropout_;
  LookAhead ahead_{tiling_.tokens, tiling_.size};
};

class BackwardHead {
 public:
  BackwardHead(const AttentionBackward& arguments, const Tiling& tiling)
      : arguments_(arguments),
        tiling_(tiling),
        scale_(1 / sqrtf(static_cast<float>(tiling.size))),
        score_(row_products(tiling)),
        sum_keys_(sums_over_keys(tiling)),
        sum_queries_(sums_over_queries(tiling)),
        keys_(scratch_.floats(tiling.keys * tiling.size)),
        values_(scratch_.floats(tiling.keys * tiling.size)),
        query_(scratch_.floats(tiling.queries * tiling.size)),
        query_transposed_(scratch_.floats(tiling.queries * tiling.size)),
        dout_(scratch_.floats(tiling.queries * tiling.size)),
        dout_transposed_(scratch_.floats(tiling.queries * tiling.size)),
        dquery_(scratch_.floats(tiling.queries * tiling.size)),
        scores_(scratch_.floats(tiling.chunk_tiles * tiling.queries * tiling.queries)),
        dscores_(scratch_.floats(tiling.chunk_tiles * tiling.queries * tiling.queries)),
        dropout_(arguments.dropout, tiling, scratch_) {}

  // The query tiles first_tile, first_tile + step, … of one head: writes their part of dq, and adds
  // up what they give to dk and dv in `dkeys` and `dvalues` [keys × s].
  void run(int64_t index, int64_t first_tile, int64_t step, int64_t next, float* dkeys,
           float* dvalues) {
    const Head head(arguments_.shape, tiling_, index);
    look_ahead(next);
    pack_rows(arguments_.qkv + head.key, tiling_.qkv_stride, tiling_.tokens, tiling_.keys,
              tiling_.size, 1, keys_);
    turn_rows(arguments_.rotary, 0, tiling_.tokens, tiling_.size, 1, keys_);
    pack_rows(arguments_.qkv + head.value, tiling_.qkv_stride, tiling_.tokens, tiling_.keys,
              tiling_.size, 1, values_);
    clear(dkeys, tiling_.keys * tiling_.size);
    clear(dvalues, tiling_.keys * tiling_.size);
    for (int64_t tile = first_tile; tile < tiling_.tiles; tile += step) {
      run_tile(head, index, tile, dkeys, dvalues);
    }
  }

 private:
  void look_ahead(int64_t next) {
    const Head head(arguments_.shape, tiling_, next);
    const int64_t stride = tiling_.qkv_stride;
    ahead_.aim({{arguments_.qkv + head.key, stride},
                {arguments_.qkv + head.value, stride},
                {arguments_.qkv + head.query, stride},
                {arguments_.dout + head.out, tiling_.out_stride},
                {arguments_.out + head.out, tiling_.out_stride}});
  }

  void run_tile(const Head& head, int64_t index, int64_t tile, float* dkeys, float* dvalues) {
    const int64_t first_query = tile * tiling_.queries;
    const int64_t rows = tiling_.rows_of(tile);
    const int64_t size = tiling_.size;
    const int64_t stride = tiling_.queries;
    const int64_t query_at = head.query + first_query * tiling_.qkv_stride;
    const int64_t out_at = head.out + first_query * tiling_.out_stride;
    pack_rows(arguments_.qkv + query_at, tiling_.qkv_stride, rows, tiling_.queries, size,
              kLog2OfE * scale_, query_);
    turn_rows(arguments_.rotary, first_query, rows, size, 1, query_);
    transpose(query_, size, tiling_.queries, size, query_transposed_, stride);
    pack_rows(arguments_.dout + out_at, tiling_.out_stride, rows, tiling_.queries, size, 1, dout_);
    transpose(dout_, size, tiling_.queries, size, dout_transposed_, stride);
    // Σ_k P_k dP_k = out·dout, with dropout as well: what the softmax takes off each dP. Queries
    // past the end have S = 0 and dout = 0, hence no effect.
    alignas(64) float lse[kQueries] = {}, mean[kQueries] = {};
    for (int64_t i = 0; i < rows; ++i) {
      lse[i] = kLog2OfE * arguments_.lse[head.lse + first_query + i];
      mean[i] = dot(arguments_.out + out_at + i * tiling_.out_stride, dout_ + i * size);
    }
    clear(dquery_, tiling_.queries * size);
    for_chunks(tiling_, tile, [&](int64_t first_key, int64_t tiles) {
      score_[tiles](keys_ + first_key * size, query_transposed_, scores_);
      score_[tiles](values_ + first_key * size, dout_transposed_, dscores_);
      dropout_.draw(index, first_query, first_key, tiles * tiling_.queries);
      dropout_.apply(tiles * tiling_.queries, dscores_);
      for (int64_t q = 0; q < tiling_.queries; q += kLanes) {
        softmax_backward(scores_ + q, dscores_ + q, stride,
                         Sight(tiling_, first_query + q, first_key, tiles * tiling_.queries),
                         load<Lanes>(lse + q), load<Lanes>(mean + q), ahead_);
      }
      dropout_.apply(tiles * tiling_.queries, scores_);
      sum_queries_[tiles](scores_, dout_, dvalues + first_key * size);
      sum_queries_[tiles](dscores_, query_, dkeys + first_key * size);
      sum_keys_[tiles](dscores_, keys_ + first_key * size, dquery_);
    });
    turn_rows(arguments_.rotary, first_query, rows, size, -1, dquery_);
    for (int64_t i = 0; i < rows; ++i) {
      copy_past_caches(dquery_ + i * size, size,
                       arguments_.dqkv + query_at + i * tiling_.qkv_stride, scale_);
    }
  }

  float dot(const float* a, const float* b) const {
    Lanes total{};
    for (int64_t c = 0; c < tiling_.size; c += kLanes) {
      total += load(a, c, tiling_.size) * load(b, c, tiling_.size);
    }
    return sum(total);
  }

  const AttentionBackward& arguments_;
  const Tiling& tiling_;
  const float scale_;
  const ChunkGemms score_, sum_keys_, sum_queries_;
  Scratch scratch_;
  float *keys_, *values_;  // K and V [keys × s]
  // Of the tile; query_, and hence dkeys, carries the factor log₂e/√s.
  float *query_, *query_transposed_, *dout_, *dout_transposed_, *dquery_;
  float *scores_, *dscores_;
  ChunkDropout dropout_;
  LookAhead ahead_{tiling_.tokens, tiling_.size};
};

// Into how many groups of query tiles a head is cut, so that every thread finds work.
int64_t groups_for(const AttentionShape& shape, const Tiling& tiling) {
  const int64_t heads = shape.batch * shape.heads;
  const int64_t wanted = 4 * omp_get_max_threads();
  return heads >= wanted ? 1 : smaller((wanted + heads - 1) / heads, tiling.tiles);
}

// A thread takes the heads of a sequence one after the other where there are enough sequences: they
// share pages and neighbouring cache lines.
WorkQueue queue_for(const AttentionShape& shape, int64_t groups) {
  const bool by_sequences = groups == 1 && shape.batch >= 4 * omp_get_max_threads();
  return WorkQueue(shape.batch * shape.heads * groups, by_sequences ? shape.heads : 1);
}

// parts[0] += the parts of the other groups, in their order.
void add_groups(float* parts, int64_t count, int64_t groups) {
  for (int64_t g = 1; g < groups; ++g) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) parts[i] += parts[g * count + i];
  }
}

// The rows of one head to their places in the tensor.
void unpack_rows(const float* from, const Tiling& tiling, float factor, float* to) {
  for (int64_t t = 0; t < tiling.tokens; ++t) {
    copy_past_caches(from + t * tiling.size, tiling.size, to + t * tiling.qkv_stride, factor);
  }
}

}  // namespace

void attention_forward(const AttentionForward& arguments) {
  const Tiling tiling(arguments.shape, arguments.causal);
  const int64_t groups = groups_for(arguments.shape, tiling);
  WorkQueue queue = queue_for(arguments.shape, groups);
#pragma omp parallel
  {
    ForwardHead head(arguments, tiling);
    queue.work([&](int64_t item, int64_t next) {
      head.run(item / groups, item % groups, groups, next / groups);
    });
  }
}

void attention_backward(const AttentionBackward& arguments) {
  const Tiling tiling(arguments.shape, arguments.causal);
  const int64_t groups = groups_for(arguments.shape, tiling);
  const int64_t heads = arguments.shape.batch * arguments.shape.heads;
  WorkQueue queue = queue_for(arguments.shape, groups);
  const int64_t part = tiling.keys * tiling.size;
  // dk and dv of each group of each head; with one group a thread stores them while still in cache.
  Scratch shared;
  float* parts = groups > 1 ? shared.floats(heads * groups * 2 * part) : nullptr;
  const auto write = [&](int64_t index, float* of_head) {
    const Head head(arguments.shape, tiling, index);
    add_groups(of_head, 2 * part, groups);
    turn_rows(arguments.rotary, 0, tiling.tokens, tiling.size, -1, of_head);
    unpack_rows(of_head, tiling, kLnOf2, arguments.dqkv + head.key);
    unpack_rows(of_head + part, tiling, 1, arguments.dqkv + head.value);
  };
#pragma omp parallel
  {
    BackwardHead head(arguments, tiling);
    Scratch scratch;
    float* own = scratch.floats(2 * part);
    queue.work([&](int64_t item, int64_t next) {
      float* dkeys = groups > 1 ? parts + item * 2 * part : own;
      head.run(item / groups, item % groups, groups, next / groups, dkeys, dkeys + part);
      if (groups == 1) write(item, dkeys);
    });
    if (groups > 1) {
#pragma omp barrier
#pragma omp for
      for (int64_t index = 0; index < heads; ++index) {
        write(index, parts + index * groups * 2 * part);
      }
    }
    fence_past_caches();
  }
}

}  // namespace edelta::kernels::EDELTA_ISA
