// Kernels read memory by the shapes that they expect: what does not fit is refused before, with the
// same words by the fused and the composite versions.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "edelta/ops/attention.h"
#include "edelta/ops/cross_entropy.h"
#include "edelta/ops/delta.h"
#include "edelta/ops/embedding.h"
#include "edelta/ops/implementation.h"
#include "edelta/ops/iterative_cayley.h"
#include "edelta/ops/mlp.h"
#include "edelta/ops/pooling.h"
#include "edelta/ops/puzzle.h"
#include "edelta/ops/routing.h"
#include "edelta/ops/sinkhorn.h"
#include "edelta/ops/streams.h"
#include "edelta/ops/token_hybrid.h"
#include "edelta/ops/unitary.h"
#include "edelta/torch.h"

namespace edelta::ops {
namespace {

using torch::Tensor;

Tensor random(const std::vector<int64_t>& sizes) { return torch::randn(sizes); }
Tensor indices(const std::vector<int64_t>& sizes) { return torch::zeros(sizes, torch::kInt64); }

struct Wrong {
  const char* what;
  std::function<void()> call;
  const char* says;  // in the message
};

const std::vector<Wrong>& wrong_calls() {
  static const std::vector<Wrong> all{
      {"linear: weight", [] { linear(random({2, 2, 4096}), {}, {random({4096, 1}), {}}); },
       "linear: weight must have the shape [out, in]"},
      {"linear: bias", [] { linear(random({2, 5, 16}), {}, {random({8, 16}), random({7})}); },
       "linear: bias must have the shape [out] = [8], not [7]"},
      {"linear: residual",
       [] { linear(random({2, 5, 16}), {}, {random({8, 16}), {}}, random({8})); },
       "residual must have the shape [..., out] = [2, 5, 8], not [8]"},
      {"linear: norm",
       [] { linear(random({2, 5, 16}), {random({15}), {}}, {random({8, 16}), {}}); },
       "norm_weight must have the shape [in] = [16], not [15]"},
      {"linear: dtype",
       [] { linear(random({2, 5, 16}), {}, {random({8, 16}).to(torch::kFloat64), {}}); },
       "weight is Double, but x is Float"},
      {"linear with input", [] { linear_with_input(random({3, 4}), {}, {random({5, 3}), {}}); },
       "weight must have the shape [out, in]"},
      {"normalise", [] { normalise(random({3, 4}), {random({5}), {}}); }, "norm_weight"},
      {"mlp: hidden",
       [] { mlp(random({2, 5, 16}), {}, {random({32, 16}), {}}, {random({16, 31}), {}}); },
       "proj_weight must have the shape [out, hidden]"},
      {"attention: thirds", [] { causal_attention(random({2, 5, 17}), 4); }, "qkv must have"},
      {"attention: heads", [] { causal_attention(random({2, 5, 18}), 4); },
       "multiple of the heads"},
      {"attention: no heads", [] { causal_attention(random({2, 5, 18}), 0); }, "qkv must have"},
      {"drop", [] { drop(random({2, 0}), {.probability = 0.5}); }, "x has nothing in dimension -1"},
      {"embedding: positions", [] { embedding(indices({2, 5}), random({7, 4}), random({4, 4})); },
       "fewer positions"},
      {"embedding: width", [] { embedding(indices({2, 3}), random({7, 4}), random({4, 5})); },
       "positions must have the shape"},
      {"cross-entropy: targets",
       [] { cross_entropy(random({2, 5, 4}), {}, {random({7, 4}), {}}, indices({2, 4})); },
       "target must have the shape of x"},
      {"token losses: weight",
       [] { token_losses(random({2, 5, 4}), {}, {random({7, 3}), {}}, indices({2, 5})); },
       "token_losses: weight"},
      {"mix: width", [] { stream_mix(random({2, 1, 4, 4}), random({2, 5, 18})); },
       "the width of x must be a multiple"},
      {"mix: batch", [] { stream_mix(random({3, 1, 4, 4}), random({2, 5, 16})); }, "stream_mix: g"},
      {"mix: positions", [] { stream_mix(random({2, 4, 4, 4}), random({2, 5, 16})); },
       "stream_mix: g"},
      {"mix, straight through: not square",
       [] { stream_mix(random({2, 1, 4, 4}), random({2, 1, 3, 4}), random({2, 5, 16})); },
       "gradient must have the shape"},
      {"aggregate", [] { stream_aggregate(random({2, 5, 5}), random({2, 5, 16})); },
       "the width of x must be a multiple"},
      {"update: y",
       [] { stream_update({}, random({2, 5, 16}), random({2, 5, 4}), random({2, 5, 5})); },
       "y must have the shape [B, T, d] = [2, 5, 4]"},
      {"sinkhorn", [] { sinkhorn(random({3, 4})); }, "z must have the shape [..., n, n]"},
      {"iterative Cayley", [] { iterative_cayley(random({3, 4}), {}); }, "[..., n, n]"},
      {"mixers", [] { token_mixers(random({4, 3, 3}), {}); }, "[..., 2 or 3, n, n]"},
      {"route: weight",
       [] { route(random({2, 5, 16}), {random({16}), {}}, {random({40, 16}), {}}, 4, {}); },
       "weight must have the shape [2·n² or 3·n², D]"},
      {"route: bias",
       [] {
         route(random({2, 5, 16}), {random({16}), {}}, {random({32, 16}), random({3})}, 4, {});
       },
       "route: bias"},
      {"pool over the sequence", [] { pool(random({2, 16}), Pool::sequence); },
       "x must have the shape [B, T, D]"},
      {"pool over the prefix", [] { pool(random({2, 0, 16}), Pool::prefix); },
       "x has nothing in dimension 1"},
      {"delta", [] { delta(random({2, 1, 5}), random({2, 1, 1}), random({2, 3, 16})); }, ""},
      {"unitary",
       [] { unitary_matrix(random({3}), random({3}), random({1}), random({3}), random({1})); },
       "must be even"},
      {"SwiGLU", [] { swiglu(random({2, 5, 8}), random({31, 8}), random({8, 16})); },
       "gate_up must have the shape [2·hidden, width] = [32, 8], not [31, 8]"},
      {"normed SwiGLU: another width",
       [] { normed_swiglu(random({2, 5, 8}), random({32, 8}), random({7, 16}), 1e-5); },
       "normed_swiglu: down"},
      {"SwiGLU over positions",
       [] {
         normed_swiglu_over_positions(random({2, 5, 8}), random({32, 8}), random({8, 16}), 1e-5);
       },
       "normed_swiglu_over_positions: down"},
      {"whole attention: tables",
       [] { whole_attention(random({2, 5, 24}), 2, rotary_tables(4, 4, 1e4, torch::kFloat32)); },
       "cos must have the shape [T, size of a head] = [5, 4], not [4, 4]"},
      {"hybrid of a token", [] { token_hybrid(random({2, 5, 8}), random({2, 5, 17}), 4); },
       "parameters must have the shape"},
  };
  return all;
}

TEST(Shapes, WhatDoesNotFitIsRefused) {
  for (const Implementation implementation : {Implementation::fused, Implementation::composite}) {
    set_implementation(implementation);
    for (const Wrong& wrong : wrong_calls()) {
      SCOPED_TRACE(to_string(implementation) + ", " + wrong.what);
      try {
        wrong.call();
        ADD_FAILURE() << "nothing was said";
      } catch (const std::exception& error) {
        EXPECT_NE(std::string(error.what()).find(wrong.says), std::string::npos) << error.what();
      }
    }
  }
  set_implementation(Implementation::fused);
}

}  // namespace
}  // namespace edelta::ops
