#include "edelta/models/registry.h"

#include <fmt/format.h>

#include <algorithm>

#include "edelta/error.h"
#include "models/connections/connections.h"

namespace edelta::models {
namespace {

std::vector<Architecture>& registry() {
  using enum BranchWidth;
  static std::vector<Architecture> all{
      {"gpt", "x + F(LN x)", make_gpt_connection, model, 9, 128},
      {"ddl", "a Delta operator (rank one, learned β), then the residual", make_ddl_connection,
       model, 8, 128},
      {"mhc", "streams mixed by doubly stochastic matrices (Sinkhorn)", make_mhc_connection, model,
       9, 128},
      {"jpmhc", "streams mixed by nearly orthogonal matrices (iterated Cayley)",
       make_jpmhc_connection, stream, 7, 512},
      {"edelta", "exact Cayley rotation and Householder reflection, joined by a gate",
       make_edelta_connection, model, 6, 128},
      {"edelta-stream", "the same operator with routed streams and sub-layers of width D/n",
       make_edelta_stream_connection, stream, 7, 512},
  };
  return all;
}

}  // namespace

const std::vector<Architecture>& architectures() { return registry(); }

const Architecture& find_architecture(const std::string& name) {
  std::string known;
  for (const Architecture& architecture : registry()) {
    if (architecture.name == name) return architecture;
    known += (known.empty() ? "" : ", ") + architecture.name;
  }
  throw InputError(fmt::format("model is '{}'; it must be one of: {}", name, known));
}

void register_architecture(Architecture architecture) {
  for (const Architecture& other : registry()) {
    if (other.name == architecture.name) {
      throw InputError(fmt::format("an architecture named '{}' is already there", other.name));
    }
  }
  registry().push_back(std::move(architecture));
}

}  // namespace edelta::models
