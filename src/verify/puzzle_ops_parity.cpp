#include "verify/puzzle_ops_parity.h"

#include <functional>
#include <string>
#include <vector>

#include "edelta/base/error.h"
#include "edelta/ops/puzzle.h"

namespace edelta::verify {
namespace {

using base::TensorFile;
using torch::Tensor;

// Of the recursive model: y of x and of the parameters, and the gradients of Σ w⊙y.
void check_puzzle_op(const TensorFile& trace, torch::ScalarType dtype, const std::string& op,
                     const std::vector<std::string>& parameters,
                     const std::function<Tensor(const std::vector<Tensor>&)>& f,
                     Comparer& compare) {
  if (!has(trace, op + "/x")) return;
  const auto leaf = [&](const std::string& name) {
    return trace.tensor(name).to(dtype).clone().requires_grad_();
  };
  std::vector<Tensor> given{leaf(op + "/x")};
  for (const std::string& name : parameters) given.push_back(leaf(op + "/param/" + name));
  const Tensor y = f(given);
  compare.value(op + "/y", y);
  (y * trace.tensor(op + "/w").to(dtype)).sum().backward();
  compare.gradient(op + "/grad_x", given[0].grad());
  for (size_t i = 0; i < parameters.size(); ++i) {
    compare.gradient(op + "/grad/" + parameters[i], given[i + 1].grad());
  }
}

}  // namespace

void check_puzzle_ops(const TensorFile& trace, torch::ScalarType dtype, Comparer& compare) {
  constexpr double kEps = 1e-5;
  const auto check = [&](const char* op, const std::vector<std::string>& parameters,
                         const std::function<Tensor(const std::vector<Tensor>&)>& f) {
    check_puzzle_op(trace, dtype, op, parameters, f, compare);
  };
  check("rms_norm", {}, [](const auto& in) { return ops::rms_normalise(in[0], kEps); });
  check("swiglu", {"gate_up_proj.weight", "down_proj.weight"},
        [](const auto& in) { return ops::swiglu(in[0], in[1], in[2]); });
  check("attention", {"qkv_proj.weight", "o_proj.weight"}, [&](const auto& in) {
    const ops::RotaryTables tables{trace.tensor("attention/cos").to(dtype),
                                   trace.tensor("attention/sin").to(dtype)};
    if (tables.cos.dim() != 2 || tables.cos.size(1) < 1) {
      throw InputError(trace.source + ": attention/cos must have a row for each position");
    }
    const int64_t heads = in[1].size(0) / (3 * tables.cos.size(-1));
    return ops::whole_attention(in[0].matmul(in[1].t()), heads, tables).matmul(in[2].t());
  });
  if (!has(trace, "stablemax/logits")) return;
  const Tensor logits = trace.tensor("stablemax/logits").to(dtype).clone().requires_grad_();
  const Tensor losses =
      ops::stablemax_losses(logits, trace.tensor("stablemax/labels").to(torch::kInt64));
  compare.value("stablemax/loss", losses);
  losses.sum().backward();
  compare.gradient("stablemax/grad", logits.grad());
}

}  // namespace edelta::verify
