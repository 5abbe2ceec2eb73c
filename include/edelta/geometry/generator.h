// Where an operator's parameters come from: nets that look at the pooled input, one joint net, or
// learned vectors that look at nothing (specification 3).
#pragma once

#include "edelta/torch.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "edelta/geometry/gate.h"

namespace edelta::geometry {

enum class Branch {
  hybrid,       // γ · rotation + (1−γ) · reflection
  cayley,       // the rotation alone, the paper's "EΔ"
  householder,  // the reflection alone
  none          // no operator: what remains of the connection
};

enum class GeneratorKind {
  data,  // computed from the input
  fixed  // learned, the paper's "Fixed Cayley"
};

// How u and v begin.
enum class OperatorInit {
  normal,  // small, as all weights: the rotation is next to the identity, its gradient next to 0
  live     // in random directions, with length 1: it turns, and learns, from the start
};

inline bool has_rotation(Branch branch) {
  return branch == Branch::hybrid || branch == Branch::cayley;
}
inline bool has_reflection(Branch branch) {
  return branch == Branch::hybrid || branch == Branch::householder;
}
inline bool has_gate(Branch branch) { return branch == Branch::hybrid; }

// What an operator on n streams is made of; what its branch does not have is undefined.
struct OperatorParameters {
  torch::Tensor u, v;   // [..., n], the rotation's plane
  torch::Tensor beta;   // [..., 1], > 0
  torch::Tensor k;      // [..., n], the reflection's direction
  torch::Tensor gamma;  // [..., 1], the gate
  // γ again, with the gradient that the regulariser may use; undefined: γ's own.
  torch::Tensor penalised_gamma = {};
};

struct GeneratorOptions {
  int64_t width;    // D
  int64_t streams;  // n
  int64_t hidden;   // of the nets
  Branch branch = Branch::hybrid;
  double init_gate_bias = 0;
  GateGradient gate_gradient = GateGradient::all;
  OperatorInit init = OperatorInit::normal;
  double init_std = 0.02;  // of learned vectors
};

// A generator for decoding: on rows in plain memory.
class GeneratorDecoding {
 public:
  virtual ~GeneratorDecoding() = default;
  // From x̄ [rows, D] the numbers that parameters are made of, one row after the other: u, v, β
  // before its softplus, k, γ before its sigmoid, as far as the branch has them.
  virtual void operator()(int64_t rows, const float* pooled, float* numbers) const = 0;
};

// How many numbers that are.
int64_t row_length(int64_t streams, Branch branch);

// Makes an operator's parameters from the pooled input [B, T', D].
class Generator : public torch::nn::Module {
 public:
  virtual OperatorParameters generate(const torch::Tensor& pooled) = 0;
  virtual std::unique_ptr<GeneratorDecoding> decoding() const = 0;
  // What is drawn as weights are, before initialise(), though no weight of a module.
  virtual std::vector<torch::Tensor> tables() const { return {}; }
  // What the general rule (weights N(0, 0.02²), biases 0) does not do.
  virtual void initialise() = 0;
};

// The published EΔ generator: a 2-layer GELU net each for u, v, β and k, a linear gate.
std::shared_ptr<Generator> make_net_generator(const GeneratorOptions& options);
// The streamed variant's: one net LN → Linear → GELU → Linear for all of them.
std::shared_ptr<Generator> make_joint_generator(const GeneratorOptions& options);
// Learned vectors.
std::shared_ptr<Generator> make_fixed_generator(const GeneratorOptions& options);

}  // namespace edelta::geometry
