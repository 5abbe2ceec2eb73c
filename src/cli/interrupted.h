// Stopped by a signal, with everything saved.
#pragma once

namespace edelta::cli {

// The program exits with 128 + the signal's number, as a shell would report it.
struct Interrupted {
  explicit Interrupted(int signal) : exit_code(128 + signal) {}
  int exit_code;
};

}  // namespace edelta::cli
