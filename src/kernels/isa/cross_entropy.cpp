// Blocks of tokens one after the other, each in three steps between which its threads meet:
//   1. n = LN?(x), the rows of the block shared out;
//   2. Zᵀ = W nᵀ, the words shared out, and of these each thread's largest logit and Σ exp;
//   3. Z becomes the gradient at the logits; dW and db of a thread's own words, which no other
//      touches, and its words' share of dn = dZ W;
// after which the rows are shared out again to add up dn and take it through the norm.
//
// The logits are transposed, tokens along a row: then W is read as it is stored in all three
// products, and a softmax runs over lanes, one token each. All that is as long as the vocabulary is
// a block's logits.
//
// With a small vocabulary it is the tokens that are shared out: every thread goes through blocks of
// its own alone, and its dW is added to those of the others at the end.
#include "kernels/cross_entropy.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/isa/layer_norm.h"
#include "kernels/isa/rows.h"
#include "kernels/isa/thread_gradients.h"
#include "kernels/isa/tile_product.h"
#include "kernels/isa/token_tiles.h"
#include "kernels/isa/transpose.h"
#include "kernels/isa/vector_exp.h"
#include "kernels/scratch.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

// A thread's words go by in tiles that stay in its cache together with the block's n and dn.
constexpr int64_t kTileWords = 64;
// W and dW pass through the caches once for each block of tokens.
constexpr int64_t kBlockTokens = 128;
// The largest weight of which every thread can have a gradient of its own.
constexpr int64_t kSmallWeight = 1 << 20;

int64_t whole_lanes(int64_t tokens) { return (tokens + kLanes - 1) / kLanes * kLanes; }

// For each token of a block, the largest logit of some words and Σ exp(logit − largest).
struct SumOfWords {
  float* top;
  float* sum;

  void clear(int64_t tokens) const {
    std::fill_n(top, tokens, std::numeric_limits<float>::lowest());
    std::fill_n(sum, tokens, 0.0F);
  }

  // Takes in the words of a tile of logits. They are added up by themselves first: a sum of all
  // words one by one would lose a digit of large vocabularies.
  void add(const float* z, int64_t stride, int64_t words, int64_t tokens) const {
    for (int64_t t = 0; t < tokens; t += kLanes) {
      const Lanes before = load<Lanes>(top + t);
      Lanes now = before;
      for (int64_t w = 0; w < words; ++w) now = larger(now, load<Lanes>(z + w * stride + t));
      Lanes more = {};
      for (int64_t w = 0; w < words; ++w) {
        more += vector_exp(load<Lanes>(z + w * stride + t) - now);
      }
      store(top + t, now);
      store(sum + t, load<Lanes>(sum + t) * vector_exp(before - now) + more);
    }
  }

  // Takes in other words' sums.
  void add(const SumOfWords& other, int64_t tokens) const {
    for (int64_t t = 0; t < tokens; t += kLanes) {
      const Lanes mine = load<Lanes>(top + t), theirs = load<Lanes>(other.top + t);
      const Lanes now = larger(mine, theirs);
      store(top + t, now);
      store(sum + t, load<Lanes>(sum + t) * vector_exp(mine - now) +
                         load<Lanes>(other.sum + t) * vector_exp(theirs - now));
    }
  }
};

// The products of a block of so many tokens with a tile of words.
struct Products {
  Products(const CrossEntropy& a, const TokenTiles& words, int64_t tokens, int64_t stride)
      : logits(TileProduct::of_rows(words, whole_lanes(tokens), a.in, {a.in, stride, stride},
                                    starting_form(nullptr, a.bias))),
        first_weight_gradient(TileProduct::of_rows(
            words, a.in, tokens, {stride, padded(a.in), a.in}, Gemm::C::overwrite)),
        weight_gradient(TileProduct::of_rows(words, a.in, tokens, {stride, padded(a.in), a.in},
                                             Gemm::C::accumulate)),
        input_gradient(TileProduct::over_rows(words, tokens, a.in, {stride, a.in, padded(a.in)})) {}

  TileProduct logits, first_weight_gradient, weight_gradient, input_gradient;
};

class Blocks {
 public:
  enum Sum { kNormWeight, kNormBias };

  enum class Threads { one, all };

  Blocks(const CrossEntropy& a, Threads threads, Scratch& scratch)
      : a_(a),
        norm_{a.in, a.norm_weight, a.norm_bias, a.rms},
        words_(a.words, kTileWords, threads == Threads::all ? a.tokens * a.in : 0),
        tokens_(a.tokens, kBlockTokens, /*work=*/0),
        in_stride_(padded(a.in)),
        stride_(padded(whole_lanes(tokens_.rows()))),
        whole_(a, words_, tokens_.rows(), stride_),
        last_(a, words_, tokens_.last_rows(), stride_) {
    normed_ = scratch.floats(tokens_.rows() * in_stride_);
    transposed_ = scratch.floats(a.in * stride_);
    moments_ = scratch.floats(2 * a.tokens);
    target_logit_ = scratch.floats(stride_);
    // The columns beyond the tokens are computed with the others, and not used.
    std::memset(transposed_, 0, a.in * stride_ * sizeof(float));
    sums_ = scratch.floats(words_.threads() * 4 * stride_);
    const int64_t kept = differentiates() ? a.words : words_.threads() * words_.rows();
    logits_ = scratch.floats(kept * stride_);
    if (!goes_back()) return;
    input_gradients_ = scratch.floats(words_.threads() * tokens_.rows() * in_stride_);
  }

  int threads() const { return words_.threads(); }

  // By all threads together.
  void work(const ThreadGradients::Sums& sums) const {
    for (int64_t block = 0; block < tokens_.count(); ++block) {
      shared_normalise(block);
      shared_logits(block);
      const SumOfWords whole = total(block);
      if (omp_get_thread_num() == 0) write_losses(block, whole);
      if (!differentiates()) continue;
      shared_gradients(block, whole);
      shared_input_gradients(block, sums);
    }
  }

 private:
  // Whether there is a way back behind the product.
  bool goes_back() const {
    return a_.dx != nullptr || a_.dnorm_weight != nullptr || a_.dnorm_bias != nullptr;
  }
  bool differentiates() const {
    return goes_back() || a_.dweight != nullptr || a_.dbias != nullptr;
  }

  const Products& products(int64_t block) const {
    return tokens_.rows(block) == tokens_.rows() ? whole_ : last_;
  }
  const int64_t* targets(int64_t block) const { return a_.target + tokens_.first(block); }

  // The logits of a tile: kept, or in the thread's own memory.
  float* logits(int64_t tile, int thread) const {
    return logits_ + (differentiates() ? words_.first(tile) : thread * words_.rows()) * stride_;
  }
  // A thread's own sums, and those of all words.
  SumOfWords own(int thread) const {
    float* at = sums_ + thread * 4 * stride_;
    return {at, at + stride_};
  }
  SumOfWords all(int thread) const {
    float* at = sums_ + (thread * 4 + 2) * stride_;
    return {at, at + stride_};
  }

  void shared_normalise(int64_t block) const {
    constexpr int64_t kGroup = 16;
    const int64_t rows = tokens_.rows(block);
#pragma omp for schedule(static)
    for (int64_t first = 0; first < rows; first += kGroup) {
      const int64_t count = std::min(kGroup, rows - first);
      float* n = normed_ + first * in_stride_;
      for (int64_t r = 0; r < count; ++r) {
        normalise_row(tokens_.first(block) + first + r, n + r * in_stride_);
      }
      transpose(n, in_stride_, count, a_.in, transposed_ + first, stride_);
    }
  }

  void normalise_row(int64_t token, float* n) const {
    const float* x = a_.x + token * a_.in;
    if (norm_.weight == nullptr) {
      std::memcpy(n, x, a_.in * sizeof(float));
      return;
    }
    const Moments m = moments(norm_, x, a_.eps);
    normalize(norm_, x, m, n);
    moments_[2 * token] = m.mean;
    moments_[2 * token + 1] = m.rstd;
  }

  void shared_logits(int64_t block) const {
    const int thread = omp_get_thread_num();
    const int64_t tokens = whole_lanes(tokens_.rows(block));
    const SumOfWords mine = own(thread);
    mine.clear(tokens);
#pragma omp for schedule(static)
    for (int64_t tile = 0; tile < words_.count(); ++tile) {
      const int64_t first = words_.first(tile), words = words_.rows(tile);
      float* z = logits(tile, thread);
      if (a_.bias != nullptr) {
        for (int64_t w = 0; w < words; ++w)
          std::fill_n(z + w * stride_, tokens, a_.bias[first + w]);
      }
      products(block).logits(words, a_.weight + first * a_.in, transposed_, z);
      mine.add(z, stride_, words, tokens);
      for_targets(block, tile,
                  [&](int64_t t, int64_t w) { target_logit_[t] = z[w * stride_ + t]; });
    }
  }

  // Calls body(token of the block, word of the tile) where that is the token's target.
  template <typename Body>
  void for_targets(int64_t block, int64_t tile, const Body& body) const {
    const int64_t* target = targets(block);
    const int64_t first = words_.first(tile), words = words_.rows(tile);
    for (int64_t t = 0; t < tokens_.rows(block); ++t) {
      const int64_t word = target[t] - first;
      if (word >= 0 && word < words) body(t, word);
    }
  }

  // Of all threads' words in their order; each thread makes its own copy.
  SumOfWords total(int64_t block) const {
    const int64_t tokens = whole_lanes(tokens_.rows(block));
    const SumOfWords whole = all(omp_get_thread_num());
    whole.clear(tokens);
    for (int thread = 0; thread < omp_get_num_threads(); ++thread) whole.add(own(thread), tokens);
    return whole;
  }

  void write_losses(int64_t block, const SumOfWords& whole) const {
    const int64_t* target = targets(block);
    float* loss = a_.loss + tokens_.first(block);
    for (int64_t t = 0; t < tokens_.rows(block); ++t) {
      loss[t] = target[t] < 0 ? 0 : std::log(whole.sum[t]) + (whole.top[t] - target_logit_[t]);
    }
  }

  void shared_gradients(int64_t block, const SumOfWords& whole) const {
    const int thread = omp_get_thread_num();
    const int64_t tokens = tokens_.rows(block);
    const int64_t* target = targets(block);
    float* factor = whole.sum;
    for (int64_t t = 0; t < tokens; ++t) factor[t] = target[t] < 0 ? 0 : a_.scale / factor[t];
    float* dn = at_or_null(input_gradients_, thread * tokens_.rows() * in_stride_);
    if (dn != nullptr) std::memset(dn, 0, tokens * in_stride_ * sizeof(float));
#pragma omp for schedule(static)
    for (int64_t tile = 0; tile < words_.count(); ++tile) {
      const int64_t words = words_.rows(tile);
      float* z = logits(tile, thread);
      for (int64_t w = 0; w < words; ++w) softmax(z + w * stride_, whole.top, factor, tokens);
      for_targets(block, tile, [&](int64_t t, int64_t w) { z[w * stride_ + t] -= a_.scale; });
      tile_gradients(block, tile, z, dn);
    }
  }

  // z = factor · exp(z − top)
  static void softmax(float* z, const float* top, const float* factor, int64_t tokens) {
    for (int64_t t = 0; t < tokens; t += kLanes) {
      const Lanes above = load<Lanes>(z + t) - load<Lanes>(top + t);
      store(z + t, vector_exp(above) * load<Lanes>(factor + t));
    }
  }

  void tile_gradients(int64_t block, int64_t tile, const float* dz, float* dn) const {
    const int64_t first = words_.first(tile), words = words_.rows(tile);
    const Products& product = products(block);
    if (a_.dweight != nullptr) {
      const auto& weight = block == 0 ? product.first_weight_gradient : product.weight_gradient;
      weight(words, dz, normed_, a_.dweight + first * a_.in);
    }
    if (a_.dbias != nullptr) {
      for (int64_t w = 0; w < words; ++w) {
        const float* row = dz + w * stride_;
        float sum = 0;
        for (int64_t t = 0; t < tokens_.rows(block); ++t) sum += row[t];
        a_.dbias[first + w] = (block == 0 ? 0 : a_.dbias[first + w]) + sum;
      }
    }
    if (dn != nullptr) product.input_gradient(words, dz, a_.weight + first * a_.in, dn);
  }

  // Without a barrier at the end: the next block's first step writes nothing that is read here.
  void shared_input_gradients(int64_t block, const ThreadGradients::Sums& sums) const {
    if (!goes_back()) return;
#pragma omp for schedule(static) nowait
    for (int64_t row = 0; row < tokens_.rows(block); ++row) {
      float* dn = input_gradients_ + row * in_stride_;
      for (int thread = 1; thread < omp_get_num_threads(); ++thread) {
        add_rows(1, a_.in, dn + thread * tokens_.rows() * in_stride_, in_stride_, dn);
      }
      input_gradient_row(tokens_.first(block) + row, dn, sums);
    }
  }

  void input_gradient_row(int64_t token, const float* dn, const ThreadGradients::Sums& sums) const {
    const Moments m{moments_[2 * token], moments_[2 * token + 1]};
    const float* x = a_.x + token * a_.in;
    float* dx = at_or_null(a_.dx, token * a_.in);
    if (a_.dnorm_weight != nullptr) add_norm_weight_gradient(norm_, x, m, dn, sums[kNormWeight]);
    if (a_.dnorm_bias != nullptr) add_rows(1, a_.in, dn, in_stride_, sums[kNormBias]);
    if (dx == nullptr) return;
    if (norm_.weight == nullptr) {
      std::memcpy(dx, dn, a_.in * sizeof(float));
    } else {
      normalize_backward(norm_, x, m, dn, nullptr, dx);
    }
  }

  const CrossEntropy& a_;
  LayerNorm norm_;
  TokenTiles words_;   // the vocabulary, cut as other kernels cut their tokens
  TokenTiles tokens_;  // blocks
  int64_t in_stride_, stride_;
  Products whole_, last_;
  float* normed_;                     // n of the block
  float* transposed_;                 // nᵀ
  float* moments_;                    // mean and rstd of each token
  float* target_logit_;               // of each token of the block
  float* sums_;                       // for each thread two SumOfWords
  float* logits_;                     // Zᵀ of the block, or for each thread a tile of it
  float* input_gradients_ = nullptr;  // for each thread dn of the block from its words
};

void run(const CrossEntropy& a, Blocks::Threads threads) {
  Scratch scratch;
  const Blocks blocks(a, threads, scratch);
  ThreadGradients gradients;
  gradients.add(Blocks::kNormWeight, a.dnorm_weight, a.in);
  gradients.add(Blocks::kNormBias, a.dnorm_bias, a.in);
  gradients.allocate(scratch, blocks.threads());
#pragma omp parallel num_threads(blocks.threads())
  {
    blocks.work(gradients.start(omp_get_thread_num()));
#pragma omp barrier
    gradients.shared_reduce();
  }
}

// `count` of the tokens from `first`, with gradients that are summed over tokens in `sums`.
enum Sum { kWeight, kBias, kNormWeight, kNormBias };
CrossEntropy part(CrossEntropy a, int64_t first, int64_t count, const ThreadGradients::Sums& sums) {
  a.tokens = count;
  a.x += first * a.in;
  a.target += first;
  a.loss += first;
  a.dx = at_or_null(a.dx, first * a.in);
  a.dweight = sums[kWeight];
  a.dbias = sums[kBias];
  a.dnorm_weight = sums[kNormWeight];
  a.dnorm_bias = sums[kNormBias];
  return a;
}

void run_parts(const CrossEntropy& a) {
  const TokenTiles parts(a.tokens, /*largest=*/a.tokens, a.in * a.words);
  Scratch scratch;
  ThreadGradients gradients;
  gradients.add(kWeight, a.dweight, a.words * a.in);
  gradients.add(kBias, a.dbias, a.words);
  gradients.add(kNormWeight, a.dnorm_weight, a.in);
  gradients.add(kNormBias, a.dnorm_bias, a.in);
  gradients.allocate(scratch, static_cast<int>(parts.count()));
#pragma omp parallel num_threads(parts.threads())
  {
#pragma omp for schedule(static)
    for (int64_t i = 0; i < parts.count(); ++i) {
      const ThreadGradients::Sums sums = gradients.start(static_cast<int>(i));
      run(part(a, parts.first(i), parts.rows(i), sums), Blocks::Threads::one);
    }
    gradients.shared_reduce(static_cast<int>(parts.count()));
  }
}

}  // namespace

void cross_entropy(const CrossEntropy& a) {
  if (a.words * a.in <= kSmallWeight) {
    run_parts(a);
  } else {
    run(a, Blocks::Threads::all);
  }
}

}  // namespace edelta::kernels::EDELTA_ISA
