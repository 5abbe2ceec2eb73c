#include "cli/king_james.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>

#include "base/atomic_file.h"
#include "edelta/base/error.h"

namespace edelta::cli {

void write_king_james(const std::filesystem::path& file) {
  // The width is named because it would be the terminal's.
  FILE* pipe = popen("bible -l79 'gen1:1-rev22:21' 2>/dev/null", "r");
  if (pipe == nullptr) throw Failure("bible cannot be started");
  base::AtomicFile writing(file);
  std::array<char, 1 << 16> buffer;
  size_t all = 0;
  while (const size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    writing.write(buffer.data(), count);
    all += count;
  }
  const int status = pclose(pipe);
  if (all == 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw InputError(
        "there is no text for the language models: give one with --text FILE, or install the "
        "package "
        "bible-kjv, whose text is the default");
  }
  writing.commit();
}

}  // namespace edelta::cli
