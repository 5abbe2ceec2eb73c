// Work that stops when it is asked to, with everything saved.
#pragma once

#include <initializer_list>

namespace edelta::cli {

// What a further signal does.
enum class NextSignal { is_remembered, ends_at_once };

// From now on these signals are remembered instead of ending the program. One that the program was
// started to ignore by nohup stays ignored.
void remember_signals(std::initializer_list<int> signals, NextSignal next);
// They end the program again.
void forget_signals(std::initializer_list<int> signals);

// The last one that came, or 0.
int received_signal();

}  // namespace edelta::cli
