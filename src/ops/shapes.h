// The shapes that ops take and give. Each function refuses arguments that do not go together and
// returns the sizes of the result: an op asks it before a kernel reads memory by them, a tracer in
// place of the op.
#pragma once

#include "edelta/ops/linear.h"
#include "ops/arguments.h"

namespace edelta::ops::shapes {

using torch::Tensor;

// A norm for x of that width; an absent one fits.
void require_norm(const Tensor& x, const Norm& norm);

// [..., in] → [..., out]; what is absent fits.
SymSizes linear(const Tensor& x, const Norm& norm, const Affine& map, const Tensor& residual = {});
SymSizes mlp(const Tensor& x, const Norm& norm, const Affine& fc, const Affine& proj,
             const Tensor& residual);
// [B, T, 3·D] → [B, T, D].
SymSizes causal_attention(const Tensor& qkv, int64_t heads);
void require_dropped(const Tensor& x);

// Tokens [B, T] → [B, T, D].
SymSizes embedding(const Tensor& token, const Tensor& words, const Tensor& positions);
// x [..., in] and targets [...], int64.
void require_loss(const char* op, const Tensor& x, const Norm& norm, const Affine& map,
                  const Tensor& target);

// x [B, T, D] for a mean over positions.
void require_sequences(const char* op, const Tensor& x);
// g [B, 1 or T, n, n] for x [B, T, n·d].
void require_mixer(const char* op, const char* name, const Tensor& g, const Tensor& x);
SymSizes stream_aggregate(const Tensor& w, const Tensor& x);
void require_update(const Tensor& h, const Tensor& x, const Tensor& w, const Tensor& y);
// Matrices [..., n, n].
void require_square(const char* op, const Tensor& z, int64_t iterations);
// [..., 2 or 3, n, n].
void require_mixer_logits(const Tensor& z, int64_t iterations);
void require_route(const Tensor& x, const Norm& norm, const Affine& map, int64_t streams,
                   int64_t iterations);

// The parts of the recursive model (edelta/ops/puzzle.h).
// `over`: the dimension of x that the maps go along.
void require_swiglu(const char* op, const Tensor& x, int64_t over, const Tensor& gate_up,
                    const Tensor& down);
void require_whole_attention(const Tensor& qkv, int64_t heads, const Tensor& cos,
                             const Tensor& sin);
void require_token_hybrid(const Tensor& x, const Tensor& parameters, int64_t streams);

}  // namespace edelta::ops::shapes
