#include "cli/stop_signal.h"

#include <unistd.h>

#include <csignal>

namespace edelta::cli {
namespace {

volatile std::sig_atomic_t received = 0;
volatile std::sig_atomic_t next_ends = 0;

void remember(int signal) {
  if (received != 0 && next_ends != 0) _exit(128 + signal);
  received = signal;
}

}  // namespace

void remember_signals(std::initializer_list<int> signals, NextSignal next) {
  next_ends = next == NextSignal::ends_at_once;
  for (const int signal : signals) {
    if (std::signal(signal, remember) == SIG_IGN && signal == SIGHUP) {
      std::signal(signal, SIG_IGN);
    }
  }
}

void forget_signals(std::initializer_list<int> signals) {
  for (const int signal : signals) std::signal(signal, SIG_DFL);
}

int received_signal() { return received; }

}  // namespace edelta::cli
