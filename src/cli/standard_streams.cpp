#include "cli/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "cli/notice.h"

namespace edelta::cli {

void open_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    // open() takes the lowest free number, which is this one. Input that cannot be read and output
    // that cannot be written fail as a closed descriptor does.
    open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
  std::signal(SIGPIPE, SIG_IGN);
}

bool output_failed() { return std::ferror(stdout) != 0 || !std::cout; }

int finish_output() {
  errno = 0;
  std::cout.flush();
  std::fflush(stdout);
  return output_failed() ? output_failure(errno) : 0;
}

int output_failure(int error) {
  if (error == EPIPE) return 128 + SIGPIPE;
  // The C++ streams do not tell the reason of an earlier failure.
  notice("edelta: cannot write standard output{}\n",
         error != 0 ? std::string(": ") + std::strerror(error) : "");
  return 1;
}

}  // namespace edelta::cli
