// Reference lines across a panel, with labels where the data leaves room.
#pragma once

#include <string>

#include "reproduce/report/panel_commands.h"

namespace edelta::reproduce::report {

std::string reference_commands(const DrawnPanel& panel, const Frame& frame, double font);

}  // namespace edelta::reproduce::report
