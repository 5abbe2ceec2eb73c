#include "dist/watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "edelta/base/error.h"

namespace edelta::dist {
namespace {

using std::chrono::milliseconds;

constexpr const char* kVerdict = "verdict";
std::string pulse_key(int64_t rank) { return fmt::format("pulse/{}", rank); }
// That a rank needs the store no longer: it has the verdict, or has finished.
std::string goodbye_key(int64_t rank) { return fmt::format("goodbye/{}", rank); }

}  // namespace

Watch::Watch(const Meeting& meeting, int64_t rank, std::vector<std::string> names,
             milliseconds limit)
    : store_(meeting.store),
      own_store_(meeting.watch_store),
      rank_(rank),
      names_(std::move(names)),
      limit_(limit),
      interval_(std::clamp(limit / 20, milliseconds(50),
                           meeting.grows ? milliseconds(5000) : milliseconds(1000))),
      thread_([this] { beat_on(); }) {}

Watch::~Watch() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  wake_.notify_all();
  thread_.join();
  try {
    say_goodbye();
  } catch (const std::exception&) {
    // Whoever kept the store is gone.
  }
}

void Watch::beat_on() {
  std::unique_lock lock(mutex_);
  for (int64_t beats = 0; !stops_; ++beats) {
    const bool decided = !verdict_.empty();
    lock.unlock();
    try {
      put(*own_store_, pulse_key(rank_), fmt::format("{} {}", beats, meetings_.load()));
      last_contact_ = Clock::now();
      if (!decided) look_around();
    } catch (const std::exception&) {
      adopt(fmt::format("{} does not answer any more", names_[0]));
      return;
    }
    lock.lock();
    wake_.wait_for(lock, interval_, [this] { return stops_; });
  }
}

void Watch::look_around() {
  if (const auto text = look_up(*own_store_, kVerdict)) {
    put(*own_store_, goodbye_key(rank_), "1");
    return adopt(*text);
  }
  const auto now = Clock::now();
  const int64_t end = rank_ == 0 ? static_cast<int64_t>(names_.size()) : 1;
  for (int64_t rank = 0; rank < end; ++rank) {
    if (rank == rank_ || look_up(*own_store_, goodbye_key(rank))) continue;
    const int64_t beats = pulse_of(*own_store_, rank).beats;
    const auto [found, added] = last_seen_.try_emplace(rank, beats, now);
    if (found->second.first != beats) found->second = {beats, now};
    if (now - found->second.second > limit_) {
      put(*own_store_, kVerdict,
          fmt::format("{} has not answered for {:g} s", names_[static_cast<size_t>(rank)],
                      in_seconds(limit_)));
    }
  }
}

Watch::Pulse Watch::pulse_of(c10d::Store& store, int64_t rank) const {
  const auto text = look_up(store, pulse_key(rank));
  long long beats = -1, meetings = 0;
  if (text) std::sscanf(text->c_str(), "%lld %lld", &beats, &meetings);
  return {beats, meetings};
}

std::string Watch::verdict() const {
  const std::lock_guard lock(mutex_);
  return verdict_;
}

bool Watch::over() const { return !verdict().empty(); }

void Watch::adopt(const std::string& verdict) {
  const std::lock_guard lock(mutex_);
  if (verdict_.empty()) verdict_ = verdict;
}

std::string Watch::pronounce(const std::string& wanted) {
  try {
    std::string text = wanted;
    if (const auto there = look_up(*store_, kVerdict)) {
      text = *there;
    } else {
      put(*store_, kVerdict, text);
    }
    adopt(text);
  } catch (const std::exception&) {
    adopt(wanted);
  }
  return verdict();
}

void Watch::check(Clock::time_point begun) {
  if (const std::string text = verdict(); !text.empty()) throw Failure(text);
  const auto now = Clock::now();
  const auto silence = now - last_contact_.load();
  if (silence > limit_ || (now - begun > limit_ && silence > 4 * interval_)) {
    // Nobody can be told through a store that does not answer, nor asked.
    adopt(fmt::format("{} has not answered for {:g} s", names_[0],
                      std::chrono::duration<double>(silence).count()));
    throw Failure(verdict());
  }
  if (now - begun <= limit_) return;
  std::vector<std::string> late;
  try {
    for (size_t rank = 0; rank < names_.size(); ++rank) {
      const auto other = static_cast<int64_t>(rank);
      if (other != rank_ && pulse_of(*store_, other).meetings < meetings_) {
        late.push_back(names_[rank]);
      }
    }
  } catch (const std::exception&) {
    late = {names_[0]};
  }
  throw Failure(pronounce(
      late.empty()
          ? fmt::format("the ranks could not reach each other for {:g} s", in_seconds(limit_))
          : fmt::format("{} did not come within {:g} s, for which the others waited",
                        fmt::join(late, " and "), in_seconds(limit_))));
}

void Watch::blame(const std::string& what) {
  const auto patience = std::min(limit_, std::max(milliseconds(2000), 4 * interval_));
  const auto begun = Clock::now();
  std::vector<int64_t> before;
  try {
    while (true) {
      if (const std::string text = verdict(); !text.empty()) throw Failure(text);
      std::vector<int64_t> beats;
      for (size_t rank = 0; rank < names_.size(); ++rank) {
        beats.push_back(pulse_of(*store_, static_cast<int64_t>(rank)).beats);
      }
      if (before.empty()) before = beats;
      if (Clock::now() - begun > patience) {
        std::vector<std::string> silent;
        for (size_t rank = 0; rank < names_.size(); ++rank) {
          if (static_cast<int64_t>(rank) != rank_ && beats[rank] == before[rank]) {
            silent.push_back(names_[rank]);
          }
        }
        throw Failure(pronounce(silent.empty()
                                    ? fmt::format("the ranks lost each other: {}", what)
                                    : fmt::format("{} has ended", fmt::join(silent, " and "))));
      }
      std::this_thread::sleep_for(milliseconds(20));
    }
  } catch (const Failure&) {
    if (over()) throw Failure(verdict());
    throw Failure(pronounce(fmt::format("{} has ended", names_[0])));
  } catch (const std::exception&) {
    throw Failure(pronounce(fmt::format("{} has ended", names_[0])));
  }
}

void Watch::leave(const std::string& reason) {
  pronounce(fmt::format("{} ended: {}", names_[static_cast<size_t>(rank_)], reason));
}

void Watch::say_goodbye() {
  put(*store_, goodbye_key(rank_), "1");
  if (rank_ != 0) return;
  const auto patience = std::min(limit_, std::max(milliseconds(2000), 4 * interval_));
  std::map<int64_t, std::pair<int64_t, Clock::time_point>> seen;
  for (bool waits = true; waits;) {
    waits = false;
    const auto now = Clock::now();
    for (size_t i = 1; i < names_.size(); ++i) {
      const auto rank = static_cast<int64_t>(i);
      if (look_up(*store_, goodbye_key(rank))) continue;
      const int64_t beats = pulse_of(*store_, rank).beats;
      const auto [found, added] = seen.try_emplace(rank, beats, now);
      if (found->second.first != beats) found->second = {beats, now};
      waits = waits || now - found->second.second < patience;
    }
    if (waits) std::this_thread::sleep_for(milliseconds(10));
  }
}

}  // namespace edelta::dist
