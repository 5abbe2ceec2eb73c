// The paper's theorems, propositions and corollaries, and what holds of the operators beyond it, as
// numerical experiments: each statement is measured on random operators of every size, and holds or
// fails by its worst case.
#pragma once

#include "edelta/torch.h"

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "edelta/geometry/gate.h"
#include "edelta/geometry/hybrid.h"
#include "edelta/ops/cayley.h"
#include "edelta/ops/delta.h"
#include "edelta/ops/geodesic.h"
#include "edelta/ops/householder.h"
#include "edelta/ops/iterative_cayley.h"
#include "edelta/ops/sinkhorn.h"
#include "edelta/ops/unitary.h"

namespace edelta::verify {

// What the statements are about. The library's own by default; a test puts a broken one in its
// place to see the right statements fail.
struct OperatorsUnderTest {
  using Tensor = torch::Tensor;
  template <class Signature>
  using Op = std::function<Signature>;

  Op<Tensor(const Tensor& u, const Tensor& v, const Tensor& beta)> cayley_matrix =
      ops::cayley_matrix;
  Op<Tensor(const Tensor& u, const Tensor& v, const Tensor& beta, const Tensor& x)> cayley_rotate =
      ops::cayley_rotate;
  Op<Tensor(const Tensor& k)> householder_matrix = ops::householder_matrix;
  Op<Tensor(const Tensor& k, const Tensor& x)> householder_reflect = ops::householder_reflect;
  Op<Tensor(const Tensor& k, const Tensor& beta, const Tensor& x)> delta = ops::delta;
  Op<geometry::StreamOperator(const geometry::OperatorParameters&, geometry::Branch,
                              geometry::Blend)>
      hybrid_operator = [](const auto& p, geometry::Branch branch, geometry::Blend blend) {
        return geometry::hybrid_operator(p, branch, blend);
      };
  Op<Tensor(const geometry::OperatorParameters&, const Tensor& x)> hybrid_apply =
      [](const auto& p, const Tensor& x) { return geometry::hybrid_apply(p, x); };
  using GatedMatrix = Op<Tensor(const Tensor& u, const Tensor& v, const Tensor& beta,
                                const Tensor& k, const Tensor& gamma)>;
  GatedMatrix geodesic_matrix = ops::geodesic_matrix;
  GatedMatrix unitary_matrix = ops::unitary_matrix;
  Op<Tensor(const Tensor& u, const Tensor& v, const Tensor& beta)> unitary_rotation_matrix =
      ops::unitary_rotation_matrix;
  Op<Tensor(const Tensor& gamma, geometry::GateRegulariser)> gate_penalty = geometry::gate_penalty;
  Op<Tensor(const Tensor& z, int64_t iterations)> sinkhorn = ops::sinkhorn;
  Op<Tensor(const Tensor& z, const ops::CayleyIteration& cayley)> iterative_cayley =
      ops::iterative_cayley;
};

// What is being measured.
struct TheoremProgress {
  std::string id;      // of the statement
  int64_t number = 0;  // of the statement, from 1
  int64_t total = 0;   // statements
  int64_t n = 0;       // size of the operators
};

struct TheoremOptions {
  int64_t samples = 100;                              // of each size
  std::vector<int64_t> sizes = {2, 3, 4, 8, 16, 64};  // n
  int64_t seed = 42;
  std::function<void(const TheoremProgress&)> on_check = {};
};

enum class Relation { at_most, at_least };

struct TheoremRow {
  std::string statement;
  std::string measured;  // the quantity whose worst case is given
  double worst;
  Relation relation;
  double bound;
  std::string note = {};  // what else the samples showed
  std::string id = {};

  // Not a number counts as a failure.
  bool holds() const { return relation == Relation::at_most ? worst <= bound : worst >= bound; }
};

struct TheoremReport {
  TheoremOptions options;
  std::vector<TheoremRow> rows;

  int64_t failures() const;
  bool all_hold() const { return failures() == 0; }
};

// Throws InputError for options that leave nothing to measure or do not fit into memory.
TheoremReport verify_theorems(const TheoremOptions& options,
                              const OperatorsUnderTest& operators = {});

// A table of at most 110 columns that ends with the verdict on the whole.
std::string to_table(const TheoremReport& report);
nlohmann::ordered_json to_json(const TheoremReport& report);
// What to_json() wrote; InputError that names `source` and the key.
TheoremReport theorem_report_from_json(const nlohmann::json& json, const std::string& source);

}  // namespace edelta::verify
