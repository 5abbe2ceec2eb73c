// H_pre and H_post multiplied into the linear maps beside them (specification 11).
#pragma once

#include <memory>

#include "edelta/models/model.h"

namespace edelta::models {

// The model with the same outputs and without the maps: edelta without an operator becomes gpt,
// another keeps its operator. Multiplied in float64. InputError for an architecture that has none.
std::shared_ptr<Model> folded(const Model& model);

}  // namespace edelta::models
