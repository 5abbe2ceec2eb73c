// The sub-commands, one a file.
#pragma once

namespace CLI {
class App;
}

namespace edelta::cli {

void add_verify(CLI::App& app);

}  // namespace edelta::cli
