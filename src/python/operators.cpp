// The geometric operators (specification 1, 11): rotations, reflections, what joins them, and the
// mixers of the peers.
#include <array>

#include "edelta/geometry/gate.h"
#include "edelta/models/architecture_options.h"
#include "edelta/ops/cayley.h"
#include "edelta/ops/delta.h"
#include "edelta/ops/geodesic.h"
#include "edelta/ops/householder.h"
#include "edelta/ops/hybrid.h"
#include "edelta/ops/iterative_cayley.h"
#include "edelta/ops/sinkhorn.h"
#include "edelta/ops/unitary.h"
#include "ops/shapes.h"
#include "python/arguments.h"
#include "python/registration.h"

namespace edelta::python {
namespace {

using torch::Tensor;
namespace shapes = ops::shapes;

enum class Field { real, complex };

// Vectors [..., n] and numbers [..., 1] that operators on n streams are made of.
std::vector<Tensor> operator_arguments(const char* op, const Tensor& first,
                                       std::initializer_list<Argument> vectors,
                                       std::initializer_list<Argument> numbers,
                                       Field field = Field::real) {
  std::vector<Argument> all(vectors);
  all.insert(all.end(), numbers);
  const Arguments checked(op, all);
  std::vector<Tensor> tensors;
  for (const Argument& each : all) {
    checked.require_dims(each.name, 1);
    tensors.push_back(each.tensor);
  }
  for (const Argument& each : vectors) {
    checked.require_nonzero(each.name, -1);
    checked.require_size(each.name, -1, first.sym_size(-1), "[..., n]");
  }
  for (const Argument& each : numbers) checked.require_size(each.name, -1, 1, "[..., 1]");
  checked.require(field == Field::real || first.sym_size(-1) % 2 == 0,
                  "n must be even: pairs of numbers are complex");
  return with_common_leading(tensors);
}

// x [..., n, d] for operators made of vectors like `first`.
void require_streams(const char* op, const Tensor& first, const Tensor& x) {
  const Arguments checked(op, {{"the vectors", first}, {"x", x}});
  checked.require_dims("x", 2);
  checked.require_size("x", -2, first.sym_size(-1), "[..., n, d]");
}

// The leading dimensions of operators and x, and x's own n × d.
Tensor mixed_shape(const Tensor& vector, const Tensor& x) {
  const Tensor sum = vector.select(-1, 0).unsqueeze(-1).unsqueeze(-1) + x;
  return empty_result({sum.sym_sizes().begin(), sum.sym_sizes().end()}, x);
}

Tensor matrix_shape(const Tensor& vector) {
  const c10::SymInt n = vector.sym_size(-1);
  return empty_result(leading_with(vector, {n, n}), vector);
}

// u, v, β.
std::vector<Tensor> rotation(const char* op, const Tensor& u, const Tensor& v, const Tensor& beta,
                             Field field = Field::real) {
  return operator_arguments(op, u, {{"u", u}, {"v", v}}, {{"beta", beta}}, field);
}

// u, v, k, β, γ.
std::vector<Tensor> gated(const char* op, const Tensor& u, const Tensor& v, const Tensor& beta,
                          const Tensor& k, const Tensor& gamma, Field field = Field::real) {
  return operator_arguments(op, u, {{"u", u}, {"v", v}, {"k", k}},
                            {{"beta", beta}, {"gamma", gamma}}, field);
}

Tensor cayley_matrix(const Tensor& u, const Tensor& v, const Tensor& beta) {
  const auto p = rotation("cayley_matrix", u, v, beta);
  return ops::cayley_matrix(p[0], p[1], p[2]);
}
Tensor cayley_matrix_shape(const Tensor& u, const Tensor& v, const Tensor& beta) {
  return matrix_shape(rotation("cayley_matrix", u, v, beta)[0]);
}

Tensor unitary_rotation_matrix(const Tensor& u, const Tensor& v, const Tensor& beta) {
  const auto p = rotation("unitary_rotation_matrix", u, v, beta, Field::complex);
  return ops::unitary_rotation_matrix(p[0], p[1], p[2]).contiguous();
}
Tensor unitary_rotation_matrix_shape(const Tensor& u, const Tensor& v, const Tensor& beta) {
  return matrix_shape(rotation("unitary_rotation_matrix", u, v, beta, Field::complex)[0]);
}

Tensor cayley_rotate(const Tensor& u, const Tensor& v, const Tensor& beta, const Tensor& x) {
  const auto p = rotation("cayley_rotate", u, v, beta);
  require_streams("cayley_rotate", u, x);
  return ops::cayley_rotate(p[0], p[1], p[2], x).contiguous();
}
Tensor cayley_rotate_shape(const Tensor& u, const Tensor& v, const Tensor& beta, const Tensor& x) {
  require_streams("cayley_rotate", u, x);
  return mixed_shape(rotation("cayley_rotate", u, v, beta)[0], x);
}

Tensor unitary_rotate(const Tensor& u, const Tensor& v, const Tensor& beta, const Tensor& x) {
  const auto p = rotation("unitary_rotate", u, v, beta, Field::complex);
  require_streams("unitary_rotate", u, x);
  return ops::unitary_rotate(p[0], p[1], p[2], x).contiguous();
}
Tensor unitary_rotate_shape(const Tensor& u, const Tensor& v, const Tensor& beta, const Tensor& x) {
  require_streams("unitary_rotate", u, x);
  return mixed_shape(rotation("unitary_rotate", u, v, beta, Field::complex)[0], x);
}

Tensor part_orthogonal_to(const Tensor& u, const Tensor& v) {
  const auto p = operator_arguments("part_orthogonal_to", u, {{"u", u}, {"v", v}}, {});
  return ops::part_orthogonal_to(p[0], p[1]).to(u.scalar_type()).contiguous();
}
Tensor part_orthogonal_to_shape(const Tensor& u, const Tensor& v) {
  const auto p = operator_arguments("part_orthogonal_to", u, {{"u", u}, {"v", v}}, {});
  return empty_result(leading_with(p[0], {u.sym_size(-1)}), u);
}

void require_direction(const char* op, const Tensor& k, Field field = Field::real) {
  operator_arguments(op, k, {{"k", k}}, {}, field);
}

Tensor unit_direction(const Tensor& k) {
  require_direction("unit_direction", k);
  return ops::unit_direction(k).contiguous();
}
Tensor unit_direction_shape(const Tensor& k) {
  require_direction("unit_direction", k);
  return torch::empty_like(k, at::MemoryFormat::Contiguous);
}

Tensor householder_matrix(const Tensor& k) {
  require_direction("householder_matrix", k);
  return ops::householder_matrix(k).contiguous();
}
Tensor householder_matrix_shape(const Tensor& k) {
  require_direction("householder_matrix", k);
  return matrix_shape(k);
}

Tensor unitary_reflection_matrix(const Tensor& k) {
  require_direction("unitary_reflection_matrix", k, Field::complex);
  return ops::unitary_reflection_matrix(k).contiguous();
}
Tensor unitary_reflection_matrix_shape(const Tensor& k) {
  require_direction("unitary_reflection_matrix", k, Field::complex);
  return matrix_shape(k);
}

Tensor householder_reflect(const Tensor& k, const Tensor& x) {
  require_direction("householder_reflect", k);
  require_streams("householder_reflect", k, x);
  return ops::householder_reflect(k, x).contiguous();
}
Tensor householder_reflect_shape(const Tensor& k, const Tensor& x) {
  require_direction("householder_reflect", k);
  require_streams("householder_reflect", k, x);
  return mixed_shape(k, x);
}

using GatedMatrix = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                               const Tensor&);

constexpr const char* kHybrid = "hybrid_matrix";
constexpr const char* kGeodesic = "geodesic_matrix";
constexpr const char* kUnitary = "unitary_matrix";

template <GatedMatrix kCompute, const char* const* kName, Field kField>
Tensor gated_matrix(const Tensor& u, const Tensor& v, const Tensor& beta, const Tensor& k,
                    const Tensor& gamma) {
  const auto p = gated(*kName, u, v, beta, k, gamma, kField);
  return kCompute(p[0], p[1], p[3], p[2], p[4]).contiguous();
}
template <const char* const* kName, Field kField>
Tensor gated_matrix_shape(const Tensor& u, const Tensor& v, const Tensor& beta, const Tensor& k,
                          const Tensor& gamma) {
  return matrix_shape(gated(*kName, u, v, beta, k, gamma, kField)[0]);
}

std::vector<Tensor> turn_arguments(const char* op, const Tensor& u, const Tensor& k,
                                   const Tensor& gamma, const Tensor& x) {
  require_streams(op, u, x);
  return operator_arguments(op, u, {{"u", u}, {"k", k}}, {{"gamma", gamma}});
}
Tensor geodesic_turn(const Tensor& u, const Tensor& k, const Tensor& gamma, const Tensor& x) {
  const auto p = turn_arguments("geodesic_turn", u, k, gamma, x);
  return ops::geodesic_turn(p[0], p[1], p[2], x).contiguous();
}
Tensor geodesic_turn_shape(const Tensor& u, const Tensor& k, const Tensor& gamma, const Tensor& x) {
  return mixed_shape(turn_arguments("geodesic_turn", u, k, gamma, x)[0], x);
}

std::vector<Tensor> phase_arguments(const Tensor& k, const Tensor& gamma, const Tensor& x) {
  require_streams("unitary_turn", k, x);
  return operator_arguments("unitary_turn", k, {{"k", k}}, {{"gamma", gamma}}, Field::complex);
}
Tensor unitary_turn(const Tensor& k, const Tensor& gamma, const Tensor& x) {
  const auto p = phase_arguments(k, gamma, x);
  return ops::unitary_turn(p[0], p[1], x).contiguous();
}
Tensor unitary_turn_shape(const Tensor& k, const Tensor& gamma, const Tensor& x) {
  return mixed_shape(phase_arguments(k, gamma, x)[0], x);
}

std::vector<Tensor> delta_arguments(const Tensor& k, const Tensor& beta, const Tensor& x) {
  const Arguments checked("delta", {{"k", k}, {"x", x}});
  checked.require_dims("x", 1);
  const auto p = operator_arguments("delta", k, {{"k", k}}, {{"beta", beta}});
  checked.require_size("x", -1, k.sym_size(-1), "[..., D]");
  return p;
}
Tensor delta(const Tensor& k, const Tensor& beta, const Tensor& x) {
  const auto p = delta_arguments(k, beta, x);
  return ops::delta(p[0], p[1], x).contiguous();
}
Tensor delta_shape(const Tensor& k, const Tensor& beta, const Tensor& x) {
  const Tensor sum = delta_arguments(k, beta, x)[0] + x;
  return empty_result({sum.sym_sizes().begin(), sum.sym_sizes().end()}, x);
}

Tensor sinkhorn(const Tensor& z, int64_t iterations) {
  return ops::sinkhorn(z, iterations).contiguous();
}
Tensor sinkhorn_shape(const Tensor& z, int64_t iterations) {
  shapes::require_square("sinkhorn", z, iterations);
  return torch::empty_like(z, at::MemoryFormat::Contiguous);
}

Tensor iterative_cayley(const Tensor& z, double alpha, int64_t iterations) {
  return ops::iterative_cayley(z, {alpha, iterations}).contiguous();
}
Tensor iterative_cayley_from_identity(const Tensor& z, double alpha, int64_t iterations) {
  const Tensor y = ops::iterative_cayley_from_identity(z, {alpha, iterations});
  return y.expand_as(z).contiguous();
}
Tensor iterative_cayley_shape(const Tensor& z, double, int64_t iterations) {
  shapes::require_square("iterative_cayley", z, iterations);
  return torch::empty_like(z, at::MemoryFormat::Contiguous);
}
Tensor iterative_cayley_from_identity_shape(const Tensor& z, double, int64_t iterations) {
  shapes::require_square("iterative_cayley_from_identity", z, iterations);
  return torch::empty_like(z, at::MemoryFormat::Contiguous);
}

Tensor gate_penalty(const Tensor& gamma, const std::string& regulariser) {
  const Arguments checked("gate_penalty", {{"gamma", gamma}});
  const auto kind = enum_from_string<geometry::GateRegulariser>("regulariser", regulariser);
  return geometry::gate_penalty(gamma, kind).contiguous();
}
Tensor gate_penalty_shape(const Tensor& gamma, const std::string& regulariser) {
  const Arguments checked("gate_penalty", {{"gamma", gamma}});
  enum_from_string<geometry::GateRegulariser>("regulariser", regulariser);
  return torch::empty_like(gamma, at::MemoryFormat::Contiguous);
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(edelta, library) {
  Registration add(library);
  const std::string plane = "(Tensor u, Tensor v, Tensor beta";
  const std::string gate = "(Tensor u, Tensor v, Tensor beta, Tensor k, Tensor gamma) -> Tensor";
  const std::string iteration = "(Tensor z, float alpha=0.1, int iterations=2) -> Tensor";
  add.differentiable("cayley_matrix" + plane + ") -> Tensor", &cayley_matrix, &cayley_matrix_shape);
  add.differentiable("cayley_rotate" + plane + ", Tensor x) -> Tensor", &cayley_rotate,
                     &cayley_rotate_shape);
  add.differentiable("part_orthogonal_to(Tensor u, Tensor v) -> Tensor", &part_orthogonal_to,
                     &part_orthogonal_to_shape);
  add.differentiable("unit_direction(Tensor k) -> Tensor", &unit_direction, &unit_direction_shape);
  add.differentiable("householder_matrix(Tensor k) -> Tensor", &householder_matrix,
                     &householder_matrix_shape);
  add.differentiable("householder_reflect(Tensor k, Tensor x) -> Tensor", &householder_reflect,
                     &householder_reflect_shape);
  add.differentiable(kHybrid + gate, &gated_matrix<ops::hybrid_matrix, &kHybrid, Field::real>,
                     &gated_matrix_shape<&kHybrid, Field::real>);
  add.differentiable(kGeodesic + gate, &gated_matrix<ops::geodesic_matrix, &kGeodesic, Field::real>,
                     &gated_matrix_shape<&kGeodesic, Field::real>);
  add.differentiable("geodesic_turn(Tensor u, Tensor k, Tensor gamma, Tensor x) -> Tensor",
                     &geodesic_turn, &geodesic_turn_shape);
  add.differentiable(kUnitary + gate, &gated_matrix<ops::unitary_matrix, &kUnitary, Field::complex>,
                     &gated_matrix_shape<&kUnitary, Field::complex>);
  add.differentiable("unitary_rotation_matrix" + plane + ") -> Tensor", &unitary_rotation_matrix,
                     &unitary_rotation_matrix_shape);
  add.differentiable("unitary_reflection_matrix(Tensor k) -> Tensor", &unitary_reflection_matrix,
                     &unitary_reflection_matrix_shape);
  add.differentiable("unitary_rotate" + plane + ", Tensor x) -> Tensor", &unitary_rotate,
                     &unitary_rotate_shape);
  add.differentiable("unitary_turn(Tensor k, Tensor gamma, Tensor x) -> Tensor", &unitary_turn,
                     &unitary_turn_shape);
  add.differentiable("delta(Tensor k, Tensor beta, Tensor x) -> Tensor", &delta, &delta_shape);
  add.differentiable("sinkhorn(Tensor z, int iterations=20) -> Tensor", &sinkhorn, &sinkhorn_shape);
  add.differentiable("iterative_cayley" + iteration, &iterative_cayley, &iterative_cayley_shape);
  add.differentiable("iterative_cayley_from_identity" + iteration, &iterative_cayley_from_identity,
                     &iterative_cayley_from_identity_shape);
  add.differentiable("gate_penalty(Tensor gamma, str regulariser=\"product\") -> Tensor",
                     &gate_penalty, &gate_penalty_shape);
}

}  // namespace edelta::python
