#pragma once

namespace edelta {

inline constexpr const char* kVersion = "0.2.0";

}  // namespace edelta
