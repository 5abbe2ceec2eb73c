// Reference lines across a panel, with labels where the data leaves room.
#pragma once

#include <string>

#include "experiments/report/figure_panel.h"

namespace edelta::experiments::report {

std::string reference_commands(const Panel& panel, const Frame& frame, double font);

}  // namespace edelta::experiments::report
