// The architectures by name, and what others need to know of them. A new one is a file under
// src/models/connections/ and a line in src/models/registry.cpp; a program can also add its own at
// run time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "edelta/models/connection.h"

namespace edelta::models {

// The width at which the sub-layers of an architecture work.
enum class SubLayerWidth {
  model,  // D
  stream  // d = D/n
};

// How curves of an architecture are drawn.
struct Look {
  std::string colour = {};  // #rrggbb; empty: any
  std::string dashes = {};  // gnuplot's dashtype
  int mark = 0;             // gnuplot's pointtype
  double width = 2;
};

// The models that the paper's author published.
struct Published {
  std::string name = {};  // there, where it is another
  // Its training adds the gate loss; the others compute it and leave it out.
  bool trains_gate = false;
};

struct Architecture {
  std::string name;
  std::string summary;  // one line, for listings
  std::function<std::unique_ptr<Connection>(const ModelConfig&, Site&)> make_connection;
  SubLayerWidth sublayer_width = SubLayerWidth::model;
  // The paper's matched configuration.
  int64_t matched_layers = 6;
  int64_t matched_width = 128;
  // Whether the number of streams matters.
  bool streams = true;
  // Whether a position depends on no later one.
  std::function<bool(const ModelConfig&)> causal = [](const ModelConfig&) { return true; };
  std::vector<OptionGroup> options = {};
  Look look = {};
  Published published = {};
  // Another model than the transformer with this connection.
  std::function<std::shared_ptr<Model>(const ModelConfig&, uint64_t seed)> make_model = {};
};

// All architectures, built-in ones first.
const std::vector<Architecture>& architectures();

// Throws InputError with the known names.
const Architecture& find_architecture(const std::string& name);
// The architecture that the published code calls so, or null.
const Architecture* find_published(const std::string& name);

// Whether the field with this key makes a difference to the architecture.
bool has_option(const Architecture& architecture, const std::string& key);

// Throws InputError when the name is taken. Not to be called while models are built elsewhere.
void register_architecture(Architecture architecture);

}  // namespace edelta::models
