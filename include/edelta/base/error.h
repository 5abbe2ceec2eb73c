// The two ways to fail.
#pragma once

#include <stdexcept>

namespace edelta {

// What the user gave can't be used: a flag, a configuration, a file. The message names the culprit
// and says what would be right; the command line prints it as one line and exits with 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The input was fine and the work still could not be done (a full disk, a non-finite loss): exit 1.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace edelta
