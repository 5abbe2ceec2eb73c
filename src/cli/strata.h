// What train and eval say of strata.
#pragma once

namespace edelta::cli {

inline constexpr const char* kStrata =
    "Strata are parts of the validation split whose loss is also given alone. gyroscope has slow\n"
    "(θ < 0.5) and fast (θ > 1.5) sequences; reversal has sequences whose rule changes by a sign "
    "or\n"
    "by a reflection, and their positions before, at the flip (the first step by the new rule) "
    "and\n"
    "after; a user's data has those in its task.json.";

}  // namespace edelta::cli
