#include "cli/stop_signal.h"

#include <unistd.h>

#include <csignal>

namespace edelta::cli {
namespace {

volatile std::sig_atomic_t received = 0;
volatile std::sig_atomic_t next_ends = 0;

// nohup's word: whether SIGHUP was ignored when the program began. That is asked before the
// constructors of shared libraries run, because UCX, which libtorch brings along on Debian 13,
// takes the signal for itself there; and so early that a sanitizer is not ready yet.
bool hangup_ignored = false;
__attribute__((no_sanitize("address", "undefined"))) void ask_for_hangup() {
  struct sigaction found;
  if (sigaction(SIGHUP, nullptr, &found) == 0) hangup_ignored = found.sa_handler == SIG_IGN;
}
__attribute__((section(".preinit_array"), used)) void (*const first_of_all)() = ask_for_hangup;

void remember(int signal) {
  if (received != 0 && next_ends != 0) _exit(128 + signal);
  received = signal;
}

}  // namespace

void remember_signals(std::initializer_list<int> signals, NextSignal next) {
  next_ends = next == NextSignal::ends_at_once;
  for (const int signal : signals) {
    std::signal(signal, signal == SIGHUP && hangup_ignored ? SIG_IGN : remember);
  }
}

void forget_signals(std::initializer_list<int> signals) {
  for (const int signal : signals) std::signal(signal, SIG_DFL);
}

int received_signal() { return received; }

}  // namespace edelta::cli
