// The option groups of the built-in architectures (specification 3).
#pragma once

#include <cstdint>

#include "edelta/geometry/gate.h"
#include "edelta/geometry/generator.h"
#include "edelta/geometry/hybrid.h"
#include "edelta/models/option_group.h"
#include "edelta/ops/pooling.h"

namespace edelta::models {

// ddl, edelta, edelta-stream: what their operators look at.
struct PoolOptions {
  ops::Pool pool = ops::Pool::sequence;

  template <class Self, class Visit>
  static void visit_fields(Self& self, Visit visit) {
    visit(Field{"pool", "sequence (sees the future), prefix or token (causal)"}, self.pool);
  }
};

// ddl, edelta: the nets that make an operator's parameters.
struct GeneratorNetOptions {
  int64_t geo_hidden_ratio = 4;  // the hidden width is D over this

  template <class Self, class Visit>
  static void visit_fields(Self& self, Visit visit) {
    visit(Field{"geo_hidden_ratio", "Hidden width of the generator nets: D over this"},
          self.geo_hidden_ratio);
  }
};

// edelta-stream: the one net for all of an operator's parameters.
struct JointNetOptions {
  int64_t geo_hidden_dim = 16;

  template <class Self, class Visit>
  static void visit_fields(Self& self, Visit visit) {
    visit(Field{"geo_hidden_dim", "Hidden width of edelta-stream's generator net"},
          self.geo_hidden_dim);
  }
};

// edelta, edelta-stream: the operator G_γ and its gate. Configurations that do not name them get
// the defaults of the blend they name: see complete().
struct HybridOptions {
  geometry::Branch branch = geometry::Branch::hybrid;
  geometry::GeneratorKind generator = geometry::GeneratorKind::data;
  geometry::Blend blend = geometry::Blend::linear;
  geometry::ScalarField field = geometry::ScalarField::real;
  geometry::OperatorInit operator_init = geometry::OperatorInit::normal;
  double init_gate_bias = 0;
  double gate_reg_weight = 0.1;  // λ
  geometry::GateRegulariser gate_regulariser = geometry::GateRegulariser::product;
  geometry::GateGradient gate_gradient = geometry::GateGradient::all;

  template <class Self, class Visit>
  static void visit_fields(Self& self, Visit visit) {
    visit(Field{"branch", "hybrid, cayley, householder or none (no operator)"}, self.branch);
    visit(Field{"generator", "data or fixed"}, self.generator);
    visit(Field{"blend", "linear, hard or geodesic (a rotation for every γ)"}, self.blend);
    visit(Field{"field", "real or complex (streams in pairs, blend geodesic)"}, self.field);
    visit(Field{"operator_init",
                "How a rotation starts: normal (next to the identity), or live (it turns)"},
          self.operator_init);
    visit(Field{"init_gate_bias", "The gate's bias at the start (blend geodesic: 4)"},
          self.init_gate_bias);
    visit(Field{"gate_reg_weight", "Weight λ of the gate regulariser (blend geodesic: 0)",
                "gate-weight"},
          self.gate_reg_weight);
    visit(Field{"gate_regulariser", "product, entropy, squared-product or min-distance"},
          self.gate_regulariser);
    visit(Field{"gate_gradient", "Where the regulariser's gradient goes: all, or gate (itself)"},
          self.gate_gradient);
  }
};

// How H_pre/H_post start, and with them the routers of JPmHC and the streamed model (specification
// 9).
enum class ProjectionInit {
  normal,   // N(0, 0.02²), as in the published code
  identity  // the identity (routers: zero), as in the paper's text
};

// gpt, jpmhc, edelta, edelta-stream.
struct ProjectionOptions {
  ProjectionInit projection_init = ProjectionInit::normal;

  template <class Self, class Visit>
  static void visit_fields(Self& self, Visit visit) {
    visit(Field{"projection_init", "normal or identity"}, self.projection_init);
  }
};

// Which sub-layers stand between maps H_pre and H_post, and on which side.
enum class Projections {
  own,  // as the architecture has them: edelta all four, gpt none
  on,   // all four
  off,
  attention,  // both of the attention
  attention_pre,
  attention_post,
  mlp,  // both of the MLP
  mlp_pre,
  mlp_post
};

// gpt, edelta. The maps fold into their neighbours: without an operator they change how a model
// starts and learns, but not what it can compute (specification 11).
struct ProjectionMapOptions {
  Projections projections = Projections::own;
  int64_t projection_factors = 1;

  template <class Self, class Visit>
  static void visit_fields(Self& self, Visit visit) {
    visit(
        Field{
            "projections",
            "H_pre and H_post: own (edelta: on, gpt: off), on, off, attention, mlp, or one alone: "
            "attention-pre, attention-post, mlp-pre, mlp-post"},
        self.projections);
    visit(Field{"projection_factors", "Matrices that each of H_pre and H_post is a product of"},
          self.projection_factors);
  }
};

// mhc.
struct SinkhornOptions {
  int64_t sinkhorn_iterations = 20;

  template <class Self, class Visit>
  static void visit_fields(Self& self, Visit visit) {
    visit(Field{"sinkhorn_iterations", "Iterations of mhc's Sinkhorn"}, self.sinkhorn_iterations);
  }
};

// jpmhc.
struct IterativeCayleyOptions {
  double cayley_alpha = 0.1;
  int64_t cayley_iterations = 2;

  template <class Self, class Visit>
  static void visit_fields(Self& self, Visit visit) {
    visit(Field{"cayley_alpha", "Step α of jpmhc's iterated Cayley transform"}, self.cayley_alpha);
    visit(Field{"cayley_iterations", "Its iterations"}, self.cayley_iterations);
  }
};

// The complex field has no other blend than the geodesic; and that, orthogonal for every γ, needs
// no regulariser and starts at the rotation.
void complete(HybridOptions& options, const std::set<std::string>& given);

void validate(const GeneratorNetOptions& options, const ModelConfig& config);
void validate(const JointNetOptions& options, const ModelConfig& config);
void validate(const HybridOptions& options, const ModelConfig& config);
void validate(const ProjectionMapOptions& options, const ModelConfig& config);
void validate(const SinkhornOptions& options, const ModelConfig& config);
void validate(const IterativeCayleyOptions& options, const ModelConfig& config);

}  // namespace edelta::models
