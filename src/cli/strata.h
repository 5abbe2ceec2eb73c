// What train and eval say of strata.
#pragma once

namespace edelta::cli {

inline constexpr const char* kStrata =
    "Strata are validation sequences whose loss is also given alone: gyroscope has slow (θ < 0.5)\n"
    "and fast (θ > 1.5) ones, a user's data those in its task.json.";

}  // namespace edelta::cli
