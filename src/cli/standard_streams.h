// Standard input, output and error as the program finds and leaves them.
#pragma once

#include <string>

namespace edelta::cli {

// In place of a file's name: standard input or output.
inline constexpr const char* kStandardStream = "-";

// Before anything is opened: gives closed descriptors back their numbers, so that no file gets one
// of them and with it what is meant for the terminal. Writing to an output that was closed fails as
// before. A reader that goes away (| head) is noticed when writing, not by a signal.
void open_standard_streams();

// Whether standard output has lost anything so far.
bool output_failed();

// Writes what is still buffered. Returns 0 if all of standard output was written; else says why
// not and returns the exit code: 1, or silently what a shell reports for a program that SIGPIPE
// ended, where the reader had seen enough.
int finish_output();

// The same after a write failed with this errno.
int output_failure(int error);

}  // namespace edelta::cli
