// The gate's regularisers and their slopes, computed.
#pragma once

#include "reproduce/figure.h"

namespace edelta::reproduce {

Figure regulariser_figure();

}  // namespace edelta::reproduce
