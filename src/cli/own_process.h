// This very program as a child process.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace edelta::cli {

// The exit code of a child that could not become the program.
inline constexpr int kNotStarted = 127;

// With these arguments, after the program's name, and this environment; standard output and error
// go to the given descriptors. It gets SIGTERM when this process dies. Failure where the system has
// no process left.
pid_t start_own_process(std::vector<std::string> arguments, std::vector<std::string> environment,
                        int output, int log);

}  // namespace edelta::cli
