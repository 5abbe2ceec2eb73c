// The architectures by name. A new one is a file under src/models/connections/ and a line in
// src/models/registry.cpp; a program can also add its own at run time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "edelta/models/connection.h"

namespace edelta::models {

// The width at which the sub-layers of an architecture work.
enum class BranchWidth {
  model,  // D
  stream  // d = D/n
};

struct Architecture {
  std::string name;
  std::string summary;  // one line, for listings
  std::function<std::unique_ptr<Connection>(const ModelConfig&, Site&)> make_connection;
  BranchWidth branch_width = BranchWidth::model;
  // The paper's matched configuration.
  int64_t matched_layers = 6;
  int64_t matched_width = 128;
};

// All architectures, built-in ones first.
const std::vector<Architecture>& architectures();

// Throws InputError with the known names.
const Architecture& find_architecture(const std::string& name);

// Throws InputError when the name is taken. Not to be called while models are built elsewhere.
void register_architecture(Architecture architecture);

}  // namespace edelta::models
