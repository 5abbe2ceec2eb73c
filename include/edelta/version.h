#pragma once

namespace edelta {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace edelta
