// With x [T×D] of a sequence as it lies in memory, z = W_gate_up·x and W_down·h are plain products
// whose columns are the channels. A block of columns is a unit of work from end to end, since the
// norm, too, takes each column by itself.
#include <omp.h>

#include <algorithm>
#include <cmath>

#include "kernels/gemm.h"
#include "kernels/isa/past_caches.h"
#include "kernels/isa/silu.h"
#include "kernels/isa/thread_gradients.h"
#include "kernels/isa/transpose.h"
#include "kernels/scratch.h"
#include "kernels/swiglu.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

constexpr int64_t kColumns = 64;

// Blocks of columns, numbered through all sequences.
struct Blocks {
  explicit Blocks(const PositionSwiGluShape& s)
      : shape(s), per_sequence((s.channels + kColumns - 1) / kColumns) {}

  int64_t count() const { return shape.batch * per_sequence; }
  int64_t first_column(int64_t block) const { return block % per_sequence * kColumns; }
  int64_t columns(int64_t block) const {
    return std::min(kColumns, shape.channels - first_column(block));
  }
  // Into x [B, T, D] and rstd [B, D].
  int64_t at(int64_t block) const {
    return block / per_sequence * shape.positions * shape.channels + first_column(block);
  }
  int64_t rstd_at(int64_t block) const {
    return block / per_sequence * shape.channels + first_column(block);
  }
  // Into the saved g and u, block after block of 2·inner rows.
  int64_t saved_at(int64_t block) const { return 2 * shape.inner * rstd_at(block); }
  int64_t last_columns() const { return columns(per_sequence - 1); }

  PositionSwiGluShape shape;
  int64_t per_sequence;
};

// y = N(x + y) by columns, with rstd of each, summed in float64 as that of rows is. The product
// that makes y does not start from x: each of its additions would round at x's size.
void normalise_columns(int64_t positions, int64_t columns, int64_t stride, float eps,
                       const float* x, float* y, float* rstd) {
  double squares[kColumns] = {};
  for (int64_t t = 0; t < positions; ++t) {
    const float* x_row = x + t * stride;
    float* row = y + t * stride;
#pragma omp simd
    for (int64_t c = 0; c < columns; ++c) {
      row[c] += x_row[c];
      squares[c] += static_cast<double>(row[c]) * row[c];
    }
  }
  for (int64_t c = 0; c < columns; ++c) {
    rstd[c] = static_cast<float>(1 / std::sqrt(squares[c] / static_cast<double>(positions) + eps));
  }
  for (int64_t t = 0; t < positions; ++t) {
    float* row = y + t * stride;
#pragma omp simd
    for (int64_t c = 0; c < columns; ++c) row[c] *= rstd[c];
  }
}

// ds = rstd·(dy − y·mean(dy ⊙ y)) by columns; ds has rows of `columns` floats.
void normalise_columns_backward(int64_t positions, int64_t columns, int64_t stride, const float* y,
                                const float* rstd, const float* dy, float* ds) {
  double products[kColumns] = {};
  for (int64_t t = 0; t < positions; ++t) {
    const float* y_row = y + t * stride;
    const float* dy_row = dy + t * stride;
#pragma omp simd
    for (int64_t c = 0; c < columns; ++c) products[c] += static_cast<double>(dy_row[c]) * y_row[c];
  }
  float along[kColumns];
  for (int64_t c = 0; c < columns; ++c) {
    along[c] = static_cast<float>(products[c] / static_cast<double>(positions));
  }
  for (int64_t t = 0; t < positions; ++t) {
    const float* y_row = y + t * stride;
    const float* dy_row = dy + t * stride;
    float* ds_row = ds + t * columns;
#pragma omp simd
    for (int64_t c = 0; c < columns; ++c) ds_row[c] = rstd[c] * (dy_row[c] - y_row[c] * along[c]);
  }
}

void copy_block(int64_t rows, int64_t columns, const float* from, int64_t from_stride, float* to,
                int64_t to_stride) {
  for (int64_t r = 0; r < rows; ++r) {
#pragma omp simd
    for (int64_t c = 0; c < columns; ++c) to[r * to_stride + c] = from[r * from_stride + c];
  }
}

// The products of a block with so many columns.
struct ForwardProducts {
  ForwardProducts(const PositionSwiGluShape& s, int64_t columns)
      : expand(2 * s.inner, columns, s.positions, {s.positions, s.channels, columns}),
        project(s.positions, columns, s.inner, {s.inner, columns, s.channels}) {}
  Gemm expand, project;
};

struct BackwardProducts {
  BackwardProducts(const PositionSwiGluShape& s, int64_t columns)
      : project_back(s.inner, columns, s.positions, {s.inner, columns, columns},
                     Gemm::A::transposed),
        down_gradient(s.inner, s.positions, columns, {columns, s.positions, s.positions},
                      Gemm::A::plain, Gemm::C::accumulate),
        gate_up_gradient(2 * s.inner, s.positions, columns, {columns, s.positions, s.positions},
                         Gemm::A::plain, Gemm::C::accumulate),
        expand_back(s.positions, columns, 2 * s.inner, {s.positions, columns, s.channels},
                    Gemm::A::transposed, Gemm::C::accumulate) {}
  Gemm project_back, down_gradient, gate_up_gradient, expand_back;
};

// For whole blocks, and for the last one of a sequence.
template <typename Products>
class BlockProducts {
 public:
  explicit BlockProducts(const Blocks& blocks)
      : whole_(blocks.shape, kColumns), last_(blocks.shape, blocks.last_columns()) {}
  const Products& operator[](int64_t columns) const { return columns == kColumns ? whole_ : last_; }

 private:
  Products whole_, last_;
};

// The backward pass of one block.
class BlockBackward {
 public:
  // The gradient of W_down is summed transposed, because h is at hand by rows of columns.
  enum Sum { kGateUp, kDownTransposed };

  BlockBackward(const PositionSwiGluBackward& a, const Blocks& blocks, int threads,
                Scratch& scratch)
      : a_(a),
        blocks_(blocks),
        products_(blocks),
        memory_(scratch.floats(threads * thread_floats())) {}

  void operator()(int64_t block, int thread, const ThreadGradients::Sums& sums) const {
    const int64_t positions = a_.shape.positions, channels = a_.shape.channels;
    const int64_t inner = a_.shape.inner;
    const int64_t columns = blocks_.columns(block), at = blocks_.at(block);
    const BackwardProducts& products = products_[columns];
    float* ds = memory_ + thread * thread_floats();
    float* turned = ds + positions * kColumns;
    float* h = turned + positions * kColumns;
    float* dz = h + inner * kColumns;
    normalise_columns_backward(positions, columns, channels, a_.y + at,
                               a_.rstd + blocks_.rstd_at(block), a_.dy + at, ds);
    products.project_back(a_.down, ds, dz);
    const float* z = a_.pre_activation + blocks_.saved_at(block);
    const int64_t half = inner * columns;
    gate_backward(half, z, z + half, dz, h, dz, dz + half);
    if (a_.ddown != nullptr) {
      transpose(ds, columns, positions, columns, turned, positions);
      products.down_gradient(h, turned, sums[kDownTransposed]);
    }
    if (a_.dgate_up != nullptr) {
      transpose(a_.x + at, channels, positions, columns, turned, positions);
      products.gate_up_gradient(dz, turned, sums[kGateUp]);
    }
    if (a_.dx == nullptr) return;
    copy_block(positions, columns, ds, columns, a_.dx + at, channels);
    products.expand_back(a_.gate_up, dz, a_.dx + at);
  }

 private:
  int64_t thread_floats() const { return (2 * a_.shape.positions + 3 * a_.shape.inner) * kColumns; }

  const PositionSwiGluBackward& a_;
  const Blocks& blocks_;
  BlockProducts<BackwardProducts> products_;
  float* memory_;  // for each thread ds, a transposed block, h, and (dg, du)
};

}  // namespace

void position_swiglu_forward(const PositionSwiGluForward& a) {
  const Blocks blocks(a.shape);
  const BlockProducts<ForwardProducts> products(blocks);
  Scratch scratch;
  const int64_t z_floats = 2 * a.shape.inner * kColumns;
  float* memory = scratch.floats(omp_get_max_threads() * z_floats);
#pragma omp parallel
  {
    float* z = memory + omp_get_thread_num() * z_floats;
#pragma omp for schedule(static)
    for (int64_t block = 0; block < blocks.count(); ++block) {
      const int64_t columns = blocks.columns(block), at = blocks.at(block);
      const int64_t half = a.shape.inner * columns;
      products[columns].expand(a.gate_up, a.x + at, z);
      if (a.pre_activation != nullptr) {
        copy_past_caches(z, 2 * half, a.pre_activation + blocks.saved_at(block));
      }
      gate(half, z, z + half, z);
      products[columns].project(a.down, z, a.y + at);
      float unsaved[kColumns];
      normalise_columns(a.shape.positions, columns, a.shape.channels, a.eps, a.x + at, a.y + at,
                        a.rstd != nullptr ? a.rstd + blocks.rstd_at(block) : unsaved);
    }
    fence_past_caches();
  }
}

void position_swiglu_backward(const PositionSwiGluBackward& a) {
  const int64_t positions = a.shape.positions, inner = a.shape.inner;
  const Blocks blocks(a.shape);
  Scratch scratch;
  float* ddown_transposed = a.ddown != nullptr ? scratch.floats(inner * positions) : nullptr;
  const int threads = omp_get_max_threads();
  ThreadGradients gradients;
  gradients.add(BlockBackward::kGateUp, a.dgate_up, 2 * inner * positions);
  gradients.add(BlockBackward::kDownTransposed, ddown_transposed, inner * positions);
  gradients.allocate(scratch, threads);
  const BlockBackward block_backward(a, blocks, threads, scratch);
#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num();
    const ThreadGradients::Sums sums = gradients.start(thread);
#pragma omp for schedule(static)
    for (int64_t block = 0; block < blocks.count(); ++block) block_backward(block, thread, sums);
    gradients.shared_reduce();
  }
  if (a.ddown != nullptr) {
    transpose(ddown_transposed, positions, inner, positions, a.ddown, inner);
  }
}

}  // namespace edelta::kernels::EDELTA_ISA
