// Which rank is to blame when the ranks cannot go on.
//
// Every rank has a thread that counts up a number of its own in the store, its pulse, together with
// how often the rank has come to where all wait for each other. The first rank looks at all pulses,
// the others at the first one's. A pulse that stands still for the time limit, or a rank that the
// others wait for that long, is the end: the verdict, one line, goes into the store, and all ranks
// end with it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "dist/meeting.h"

namespace edelta::dist {

class Watch {
 public:
  using Clock = std::chrono::steady_clock;

  // `names`: of the ranks, for messages.
  Watch(const Meeting& meeting, int64_t rank, std::vector<std::string> names,
        std::chrono::milliseconds limit);
  // The first rank stays until the others have what they need of its store.
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // This rank has come to where it needs the others.
  void came() { ++meetings_; }
  // Failure where there is a verdict, or the others have been waited for since `begun` for longer
  // than the limit.
  void check(Clock::time_point begun);
  // The exchange broke: Failure that names who is gone.
  [[noreturn]] void blame(const std::string& what);
  // This rank ends, and why.
  void leave(const std::string& reason);
  bool over() const;  // there is a verdict

 private:
  struct Pulse {
    int64_t beats = -1, meetings = 0;
  };

  void beat_on();
  void look_around();
  Pulse pulse_of(c10d::Store& store, int64_t rank) const;
  std::string verdict() const;
  void adopt(const std::string& verdict);
  // For all ranks, unless there is one already; what holds then.
  std::string pronounce(const std::string& verdict);
  void say_goodbye();

  StorePointer store_, own_store_;  // of the computing thread, and of this thread
  int64_t rank_;
  std::vector<std::string> names_;
  std::chrono::milliseconds limit_, interval_;
  std::atomic<int64_t> meetings_ = 0;
  std::atomic<Clock::time_point> last_contact_ = Clock::now();
  std::map<int64_t, std::pair<int64_t, Clock::time_point>> last_seen_;  // beats, and since when

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::string verdict_;
  bool stops_ = false;
  std::thread thread_;
};

}  // namespace edelta::dist
