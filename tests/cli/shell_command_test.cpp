#include "cli/shell_command.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace edelta::cli {
namespace {

TEST(ShellCommand, QuotesWhatAShellWouldChange) {
  unsetenv("EDELTA_COMMAND");
  set_program_name("edelta");
  EXPECT_EQ(shell_command({}), "edelta");
  EXPECT_EQ(shell_command({"train", "--resume", "runs/a-b_1.5"}),
            "edelta train --resume runs/a-b_1.5");
  EXPECT_EQ(shell_command({"my run", "", "a;b", "$x", "~", "*", "γ"}),
            "edelta 'my run' '' 'a;b' '$x' '~' '*' 'γ'");
  EXPECT_EQ(shell_command({"it's"}), "edelta 'it'\\''s'");
}

TEST(ShellCommand, BeginsWithWhatTheUserTyped) {
  set_program_name("/a folder/edelta");
  EXPECT_EQ(shell_command({"eval"}), "'/a folder/edelta' eval");
  setenv("EDELTA_COMMAND", "../edelta", 1);
  set_program_name("/build/edelta");
  EXPECT_EQ(shell_command({"eval"}), "../edelta eval");
  unsetenv("EDELTA_COMMAND");
}

}  // namespace
}  // namespace edelta::cli
