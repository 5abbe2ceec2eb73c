#include "edelta/verify/theorems.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <sstream>
#include <string>

#include "edelta/base/error.h"
#include "expect_error.h"
#include "tensor_checks.h"

namespace edelta::verify {
namespace {

using geometry::Blend;
using geometry::Branch;
using geometry::GateRegulariser;
using geometry::OperatorParameters;
using geometry::StreamOperator;
using test::expect_error;
using test::Tensor;

using Ids = std::set<std::string>;

TheoremOptions few() { return {.samples = 24, .sizes = {2, 4, 7}, .seed = 1}; }

Ids failing(const OperatorsUnderTest& operators) {
  Ids ids;
  for (const TheoremRow& row : verify_theorems(few(), operators).rows) {
    if (!row.holds()) ids.insert(row.id);
  }
  return ids;
}

TEST(Theorems, AllHoldForTheLibrary) {
  for (const int64_t seed : {1, 2, 3}) {
    TheoremOptions options = few();
    options.seed = seed;
    const TheoremReport report = verify_theorems(options);
    EXPECT_TRUE(report.all_hold()) << to_table(report);
    EXPECT_GE(report.rows.size(), 54u);
  }
}

TEST(Theorems, OneSampleIsEnough) {
  EXPECT_TRUE(verify_theorems({.samples = 1, .sizes = {2}, .seed = 5}).all_hold());
}

TEST(Theorems, EveryIdIsItsOwn) {
  Ids ids;
  for (const TheoremRow& row : verify_theorems(few()).rows) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
    EXPECT_FALSE(row.statement.empty());
    EXPECT_FALSE(row.measured.empty());
  }
}

TEST(Theorems, TellsWhatIsMeasured) {
  TheoremOptions options = few();
  std::vector<TheoremProgress> told;
  options.on_check = [&](const TheoremProgress& progress) { told.push_back(progress); };
  const TheoremReport report = verify_theorems(options);
  std::set<int64_t> sizes;
  for (const auto& [id, number, total, n] : told) {
    EXPECT_EQ(total, static_cast<int64_t>(report.rows.size()));
    EXPECT_EQ(id, report.rows.at(static_cast<size_t>(number - 1)).id);
    sizes.insert(n);
  }
  EXPECT_EQ(told.front().number, 1);
  EXPECT_EQ(sizes, (std::set<int64_t>{2, 4, 7}));
}

TEST(Theorems, SameSeedSameReport) {
  EXPECT_EQ(to_json(verify_theorems(few())), to_json(verify_theorems(few())));
  TheoremOptions other = few();
  other.seed = 2;
  EXPECT_NE(to_json(verify_theorems(few())), to_json(verify_theorems(other)));
}

// Qᵀ is a rotation too, by −θ: only what names the angle or M can tell.
TEST(BrokenCayley, WrongSign) {
  OperatorsUnderTest op;
  op.cayley_matrix = [](const Tensor& u, const Tensor& v, const Tensor& beta) {
    return ops::cayley_matrix(v, u, beta);
  };
  EXPECT_EQ(failing(op), (Ids{"any-angle", "closed-form", "blend-norm", "hard-blend-choice",
                              "geodesic-start", "geodesic-end"}));
}

TEST(BrokenCayley, MissingHalf) {
  OperatorsUnderTest op;
  op.cayley_matrix = [](const Tensor& u, const Tensor& v, const Tensor& beta) {
    return ops::cayley_matrix(u, v, 2 * beta);
  };
  EXPECT_EQ(failing(op), (Ids{"any-angle", "closed-form", "no-eigenvalue-minus-one", "blend-norm",
                              "hard-blend-choice", "geodesic-start", "geodesic-end"}));
}

TEST(BrokenCayley, ScaledIsNoRotation) {
  OperatorsUnderTest op;
  op.cayley_matrix = [](const Tensor& u, const Tensor& v, const Tensor& beta) {
    return ops::cayley_matrix(u, v, beta) * (1 + 1e-5);
  };
  const Ids ids = failing(op);
  for (const char* id : {"skew-symmetry", "orthogonality", "orthogonality-float32",
                         "rotation-determinant", "non-singularity", "closed-form"}) {
    EXPECT_TRUE(ids.count(id)) << id;
  }
}

// However few samples there are, one of them turns.
TEST(BrokenCayley, TurningTooFarShowsInOneSample) {
  OperatorsUnderTest op;
  op.cayley_matrix = [](const Tensor& u, const Tensor& v, const Tensor& beta) {
    const Tensor q = ops::cayley_matrix(u, v, beta);
    return 1.01 * q - 0.01 * test::identity_like(q);
  };
  for (const int64_t seed : {1, 2, 3, 4, 5}) {
    const auto report = verify_theorems({.samples = 1, .sizes = {4}, .seed = seed}, op);
    const auto row = std::find_if(report.rows.begin(), report.rows.end(),
                                  [](const auto& each) { return each.id == "orthogonality"; });
    EXPECT_FALSE(row->holds()) << seed;
  }
}

// The polynomial without the care for nearly parallel vectors and large β.
TEST(BrokenCayley, NaiveFormFailsAtTheExtremesOnly) {
  OperatorsUnderTest op;
  op.cayley_matrix = [](const Tensor& u, const Tensor& v, const Tensor& beta) {
    const Tensor a = u.unsqueeze(-1) * v.unsqueeze(-2);
    const Tensor m = beta.unsqueeze(-1) / 2 * (a - a.transpose(-2, -1));
    const auto dot = [](const Tensor& x, const Tensor& y) { return (x * y).sum(-1, true); };
    const Tensor s = beta.square() / 4 * (dot(u, u) * dot(v, v) - dot(u, v).square());
    return test::identity_like(m) - 2 / (1 + s).unsqueeze(-1) * (m - m.matmul(m));
  };
  const Ids ids = failing(op);
  EXPECT_TRUE(ids.count("orthogonality"));
  EXPECT_FALSE(ids.count("closed-form"));
}

TEST(BrokenCayley, NotANumberFails) {
  OperatorsUnderTest op;
  op.cayley_matrix = [](const Tensor& u, const Tensor& v, const Tensor& beta) {
    return ops::cayley_matrix(u, v, beta) * std::nan("");
  };
  const Ids ids = failing(op);
  for (const char* id : {"skew-symmetry", "orthogonality", "rotation-determinant",
                         "non-singularity", "no-eigenvalue-minus-one", "any-angle"}) {
    EXPECT_TRUE(ids.count(id)) << id;
  }
}

TEST(BrokenCayley, ReflectionInsteadOfRotation) {
  OperatorsUnderTest op;
  op.cayley_matrix = [](const Tensor& u, const Tensor&, const Tensor&) {
    return ops::householder_matrix(u);
  };
  const Ids ids = failing(op);
  EXPECT_FALSE(ids.count("orthogonality"));
  for (const char* id : {"rotation-determinant", "no-eigenvalue-minus-one", "skew-symmetry"}) {
    EXPECT_TRUE(ids.count(id)) << id;
  }
}

TEST(BrokenCayley, RotationOfAVector) {
  OperatorsUnderTest op;
  op.cayley_rotate = [](const Tensor& u, const Tensor& v, const Tensor& beta, const Tensor& x) {
    return x - (x - ops::cayley_rotate(u, v, beta, x)) * 0.999;
  };
  EXPECT_EQ(failing(op), Ids{"isometry"});
}

// PyTorch's normalize divides by max(|k|, 1e-12).
TEST(BrokenHouseholder, DirectionWithAFloor) {
  OperatorsUnderTest op;
  op.householder_matrix = [](const Tensor& k) {
    const Tensor unit = k / k.norm(2, -1, true).clamp_min(1e-12);
    return torch::eye(k.size(-1), k.options()) - 2 * unit.unsqueeze(-1) * unit.unsqueeze(-2);
  };
  EXPECT_EQ(failing(op), (Ids{"reflection-orthogonality", "reflection-orthogonality-float32",
                              "reflection-eigenvalues", "reflection-determinant", "blend-norm",
                              "hard-blend-choice"}));
}

TEST(BrokenHouseholder, MissingFactor) {
  OperatorsUnderTest op;
  op.householder_reflect = [](const Tensor& k, const Tensor& x) {
    return (x + ops::householder_reflect(k, x)) / 2;
  };
  EXPECT_EQ(failing(op), Ids{"negation"});
}

TEST(BrokenDelta, DirectionNotNormalised) {
  OperatorsUnderTest op;
  op.delta = [](const Tensor& k, const Tensor& beta, const Tensor& x) {
    return x - beta * (k * x).sum(-1, true) * k;
  };
  EXPECT_EQ(failing(op), (Ids{"delta-at-0-and-2", "delta-elsewhere", "delta-norm", "negation"}));
}

TEST(BrokenDelta, WrongSign) {
  OperatorsUnderTest op;
  op.delta = [](const Tensor& k, const Tensor& beta, const Tensor& x) {
    return ops::delta(k, -beta, x);
  };
  EXPECT_EQ(failing(op), (Ids{"delta-at-0-and-2", "delta-elsewhere", "delta-norm", "negation"}));
}

TEST(BrokenHybrid, GateTheOtherWayRound) {
  OperatorsUnderTest op;
  op.hybrid_operator = [](OperatorParameters p, Branch branch, Blend blend) {
    p.gamma = 1 - p.gamma;
    return geometry::hybrid_operator(p, branch, blend);
  };
  EXPECT_EQ(failing(op), (Ids{"boundary-determinants", "hard-blend-choice"}));
}

TEST(BrokenHybrid, RotationInBothBranches) {
  OperatorsUnderTest op;
  op.hybrid_operator = [](const OperatorParameters& p, Branch, Blend) {
    const Tensor q = ops::cayley_matrix(p.u, p.v, p.beta);
    return StreamOperator{q, q};
  };
  EXPECT_EQ(failing(op), (Ids{"midpoint-defect", "midpoint-singularity", "defect-is-penalty",
                              "boundary-determinants", "hard-blend-choice"}));
}

TEST(BrokenHybrid, HardBlendThatIsNot) {
  OperatorsUnderTest op;
  op.hybrid_operator = [](const OperatorParameters& p, Branch branch, Blend) {
    return geometry::hybrid_operator(p, branch, Blend::linear);
  };
  EXPECT_EQ(failing(op), (Ids{"hard-blend-choice", "hard-blend-orthogonality"}));
}

TEST(BrokenHybrid, Apply) {
  OperatorsUnderTest op;
  op.hybrid_apply = [](const OperatorParameters& p, const Tensor& x) {
    return geometry::hybrid_apply(p, x) + 1e-6 * x;
  };
  EXPECT_EQ(failing(op), Ids{"blend-norm"});
}

using Gated = OperatorsUnderTest::GatedMatrix;

// The statements that fail with a broken geodesic blend, and with a broken unitary one, by what
// follows the blend's name.
void expect_broken_blend(const std::function<Gated(const Gated&)>& broken, const Ids& expected) {
  const auto with_name = [&](const std::string& name) {
    Ids ids;
    for (const std::string& id : expected) ids.insert(name + "-" + id);
    return ids;
  };
  OperatorsUnderTest op;
  op.geodesic_matrix = broken(ops::geodesic_matrix);
  EXPECT_EQ(failing(op), with_name("geodesic"));
  op = {};
  op.unitary_matrix = broken(ops::unitary_matrix);
  EXPECT_EQ(failing(op), with_name("unitary"));
}

TEST(BrokenOrthogonalBlend, GateTheOtherWayRound) {
  expect_broken_blend(
      [](const Gated& matrix) -> Gated {
        return [=](const auto& u, const auto& v, const auto& beta, const auto& k,
                   const auto& gamma) { return matrix(u, v, beta, k, 1 - gamma); };
      },
      {"start", "end", "eigenvalue"});
}

TEST(BrokenOrthogonalBlend, StopsHalfway) {
  expect_broken_blend(
      [](const Gated& matrix) -> Gated {
        return [=](const auto& u, const auto& v, const auto& beta, const auto& k,
                   const auto& gamma) { return matrix(u, v, beta, k, (1 + gamma) / 2); };
      },
      {"end", "eigenvalue", "slope"});
}

TEST(BrokenOrthogonalBlend, WithoutAGate) {
  expect_broken_blend(
      [](const Gated& matrix) -> Gated {
        return
            [=](const auto& u, const auto& v, const auto& beta, const auto& k, const auto& gamma) {
              return matrix(u, v, beta, k, torch::ones_like(gamma) + 0 * gamma);
            };
      },
      {"end", "eigenvalue", "slope", "gradient"});
}

TEST(BrokenOrthogonalBlend, Scaled) {
  expect_broken_blend(
      [](const Gated& matrix) -> Gated {
        return [=](const auto& u, const auto& v, const auto& beta, const auto& k,
                   const auto& gamma) { return matrix(u, v, beta, k, gamma) * (1 - 1e-5); };
      },
      {"orthogonality", "orthogonality-float32", "determinant", "start", "end", "eigenvalue",
       "slope", "midpoint"});
}

// The straight line between the two ends of the path.
TEST(BrokenOrthogonalBlend, StraightLine) {
  expect_broken_blend(
      [](const Gated& matrix) -> Gated {
        return
            [=](const auto& u, const auto& v, const auto& beta, const auto& k, const auto& gamma) {
              const auto end = [&](double at) {
                return matrix(u, v, beta, k, torch::full_like(gamma, at));
              };
              const auto weight = gamma.unsqueeze(-1);
              return weight * end(1) + (1 - weight) * end(0);
            };
      },
      {"orthogonality", "orthogonality-float32", "determinant", "slope", "midpoint"});
}

TEST(BrokenUnitary, RotationThatIsReal) {
  OperatorsUnderTest op;
  op.unitary_rotation_matrix = ops::cayley_matrix;
  EXPECT_EQ(failing(op), (Ids{"unitary-start", "unitary-closed-form", "unitary-end"}));
}

TEST(BrokenUnitary, OrthogonalButNotComplex) {
  OperatorsUnderTest op;
  op.unitary_matrix = ops::geodesic_matrix;
  const Ids ids = failing(op);
  for (const char* id :
       {"unitary-orthogonality", "unitary-orthogonality-float32", "unitary-start"}) {
    EXPECT_TRUE(ids.count(id)) << id;
  }
  EXPECT_FALSE(ids.count("unitary-determinant"));
}

// One regulariser replaced by another formula.
Ids failing_with(GateRegulariser broken, Tensor (*formula)(const Tensor& gamma)) {
  OperatorsUnderTest op;
  op.gate_penalty = [=](const Tensor& gamma, GateRegulariser regulariser) {
    return regulariser == broken ? formula(gamma) : geometry::gate_penalty(gamma, regulariser);
  };
  return failing(op);
}

TEST(BrokenGate, EachRegulariserFailsItsRows) {
  EXPECT_EQ(failing_with(GateRegulariser::product, [](const Tensor& g) { return g * (1 - g); }),
            (Ids{"product-slopes", "defect-is-penalty"}));
  EXPECT_EQ(failing_with(GateRegulariser::product, [](const Tensor& g) { return 4 * g; }),
            (Ids{"product-slopes", "midpoint-slope", "defect-is-penalty"}));
  EXPECT_EQ(failing_with(GateRegulariser::entropy,
                         [](const Tensor& g) { return -g.log() * g * (1 - g); }),
            (Ids{"entropy-slopes", "midpoint-slope"}));
  EXPECT_EQ(
      failing_with(GateRegulariser::squared_product, [](const Tensor& g) { return g * (1 - g); }),
      Ids{"squared-product-slopes"});
  EXPECT_EQ(failing_with(GateRegulariser::min_distance,
                         [](const Tensor& g) { return torch::minimum(g, 1 - g); }),
            Ids{"min-distance-slopes"});
}

TEST(BrokenPeers, Sinkhorn) {
  OperatorsUnderTest op;
  op.sinkhorn = [](const Tensor& z, int64_t) { return ops::sinkhorn(z, 1); };
  EXPECT_EQ(failing(op), Ids{"sinkhorn-sums"});
  op.sinkhorn = [](const Tensor& z, int64_t) {
    return torch::eye(z.size(-1), z.options()).expand_as(z);
  };
  EXPECT_EQ(failing(op), (Ids{"sinkhorn-orthogonality", "sinkhorn-isometry"}));
}

TEST(BrokenPeers, IterativeCayleyWithAnotherIteration) {
  OperatorsUnderTest op;
  op.iterative_cayley = ops::iterative_cayley_from_identity;
  EXPECT_TRUE(failing(op).count("iterative-cayley-orthogonality"));
  op.iterative_cayley = [](const Tensor& z, const ops::CayleyIteration& cayley) {
    return ops::iterative_cayley(z, cayley) * 1.01;
  };
  EXPECT_EQ(failing(op), (Ids{"iterative-cayley-orthogonality", "iterative-cayley-isometry"}));
}

TEST(Theorems, OptionsThatMeasureNothingAreRejected) {
  const auto rejects = [](const TheoremOptions& options, const char* name, const char* remedy) {
    expect_error<InputError>([&] { verify_theorems(options); }, name, remedy);
  };
  rejects({.samples = 0, .sizes = {4}}, "samples is 0", "at least 1");
  rejects({.samples = -3, .sizes = {4}}, "samples is -3", "at least 1");
  rejects({.samples = 1, .sizes = {}}, "n is empty", "at least one");
  rejects({.samples = 1, .sizes = {4}, .seed = -1}, "seed is -1", "at least 0");
  rejects({.samples = 1, .sizes = {4, 1}}, "n is 1", "at least 2");
  rejects({.samples = 1, .sizes = {0}}, "n is 0", "at least 2");
  rejects({.samples = 1, .sizes = {-4}}, "n is -4", "at least 2");
  rejects({.samples = 1, .sizes = {int64_t{1} << 40}}, "n = 1099511627776", "at most");
  rejects({.samples = int64_t{1} << 40, .sizes = {4}}, "samples = 1099511627776", "at most");
}

TEST(Theorems, TableAndJsonTellTheVerdict) {
  TheoremReport report = verify_theorems(few());
  const std::string count = std::to_string(report.rows.size());
  EXPECT_NE(to_table(report).find(count + " statements, all hold"), std::string::npos);
  EXPECT_EQ(to_json(report)["all_hold"], true);
  EXPECT_EQ(to_json(report)["samples"], 24);
  EXPECT_EQ(to_json(report)["seed"], 1);
  EXPECT_EQ(to_json(report)["rows"].size(), report.rows.size());

  report.rows[0].worst = std::nan("");
  EXPECT_NE(to_table(report).find(count + " statements, 1 FAIL"), std::string::npos);
  EXPECT_NE(to_table(report).find("FAILS"), std::string::npos);
  EXPECT_EQ(to_json(report)["all_hold"], false);
  EXPECT_EQ(to_json(report)["rows"][0]["verdict"], "fails");
}

TEST(Theorems, TableFitsItsColumns) {
  std::istringstream lines(to_table(verify_theorems(few())));
  for (std::string line; std::getline(lines, line);) {
    const auto columns = std::count_if(line.begin(), line.end(),
                                       [](unsigned char byte) { return (byte & 0xC0) != 0x80; });
    EXPECT_LE(columns, 110) << line;
  }
}

}  // namespace
}  // namespace edelta::verify
