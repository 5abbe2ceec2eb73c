#include "dist/meeting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "base/atomic_file.h"
#include "base/input_file.h"
#include "dist/secret.h"
#include "dist/store_client.h"
#include "edelta/base/error.h"

namespace edelta::dist {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr auto kPause = milliseconds(10);

// The first rank's store, as c10d wants one.
class SecretStore : public c10d::Store {
 public:
  SecretStore(const std::string& host, uint16_t port, const std::string& secret, milliseconds limit)
      : Store(limit), client_(host, port, secret, limit) {}

  std::string own_address() const { return client_.own_address(); }

  void set(const std::string& key, const std::vector<uint8_t>& value) override {
    client_.set(key, {value.begin(), value.end()});
  }
  std::vector<uint8_t> get(const std::string& key) override {
    wait({key});
    const std::string value = client_.get(key).value_or("");
    return {value.begin(), value.end()};
  }
  int64_t add(const std::string& key, int64_t amount) override { return client_.add(key, amount); }
  bool deleteKey(const std::string& key) override { return client_.erase(key); }
  bool check(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) {
      if (!client_.get(key)) return false;
    }
    return true;
  }
  int64_t getNumKeys() override { return client_.count(); }
  void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
  void wait(const std::vector<std::string>& keys, const milliseconds& limit) override {
    const auto end = Clock::now() + limit;
    while (!check(keys)) {
      if (Clock::now() > end) throw Failure("the ranks did not find each other in time");
      std::this_thread::sleep_for(kPause);
    }
  }

 private:
  StoreClient client_;
};

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string random_word() { return hexadecimal(random_bytes()).substr(0, 16); }

std::string claim_key(int64_t rank) { return fmt::format("claim/{}", rank); }
std::string arrival_key(int64_t rank) { return fmt::format("arrival/{}", rank); }
std::string reply_key(int64_t rank) { return fmt::format("reply/{}", rank); }

// What a rank says when it comes: a word that no other start of it has said, and where it is.
struct Arrival {
  std::string word, host;
};
std::optional<Arrival> arrival(c10d::Store& store, int64_t rank) {
  const auto text = look_up(store, arrival_key(rank));
  if (!text) return std::nullopt;
  const size_t space = text->find(' ');
  if (space == std::string::npos) return std::nullopt;
  return Arrival{text->substr(0, space), text->substr(space + 1)};
}

// A store in a shared folder, and DIR/session, which says which of the files is it. A run that was
// killed leaves both behind, so every start has a new one.
class FolderMeeting {
 public:
  FolderMeeting(const Launch& launch, milliseconds limit)
      : launch_(launch), limit_(limit), session_(fs::path(launch.folder) / "session") {
    base::make_folder(launch.folder);
    if (launch.rank > 0) return;
    remove_announced();
    name_ = "store-" + random_word();
  }
  ~FolderMeeting() {
    if (launch_.rank == 0 && announced() == name_) remove_announced();
  }
  FolderMeeting(const FolderMeeting&) = delete;
  FolderMeeting& operator=(const FolderMeeting&) = delete;

  // Told by the first rank once its store is there.
  void announce() const { base::write_text_atomically(session_, name_ + "\n"); }

  // Whether the first rank has begun another session than the one that this rank is in.
  bool moved() {
    const std::string now = announced();
    if (now.empty() || now == name_ || !fs::exists(fs::path(launch_.folder) / now)) return false;
    name_ = now;
    return true;
  }

  // The next look finds the session moved.
  void forget() { name_.clear(); }

  // While the ranks look for each other, a file that another one removes must not be waited for.
  StorePointer open() const {
    // A store that ends writes that it does, and so makes the file anew where the first rank is
    // just removing it. None of them ends.
    static auto& stores = *new std::vector<StorePointer>;
    static std::mutex mutex;
    const std::string path = (fs::path(launch_.folder) / name_).string();
    auto store = c10::make_intrusive<c10d::FileStore>(path, static_cast<int>(-1));
    store->setTimeout(std::min(limit_, milliseconds(1000)));
    const std::lock_guard lock(mutex);
    stores.push_back(store);
    return store;
  }

 private:
  std::string announced() const {
    if (!fs::exists(session_)) return {};
    std::string text = base::read_text(session_, 256);
    text.erase(text.find_last_not_of('\n') + 1);
    return text.starts_with("store-") && text.find('/') == std::string::npos ? text : "";
  }

  void remove_announced() const {
    std::error_code ignored;
    const std::string name = announced();
    if (!name.empty()) fs::remove(fs::path(launch_.folder) / name, ignored);
    fs::remove(session_, ignored);
  }

  Launch launch_;
  milliseconds limit_;
  fs::path session_;
  std::string name_;
};

StorePointer agent_store(const Launch& launch, milliseconds limit) {
  c10d::TCPStoreOptions options;
  options.port = launch.port;
  options.isServer = false;
  options.waitWorkers = false;
  options.timeout = limit;
  try {
    return c10::make_intrusive<c10d::TCPStore>(launch.address, options);
  } catch (const std::exception&) {
    throw InputError(fmt::format("{}: torchrun's store does not answer there",
                                 endpoint_text(launch.address, launch.port)));
  }
}

// What the ranks of one run and one attempt alone can know of in a store that anybody may use.
StorePointer private_part(const StorePointer& store, const std::string& secret,
                          const Launch& launch) {
  const std::string prefix = hexadecimal(keyed_digest(secret, "edelta keys " + launch.attempt));
  return c10::make_intrusive<c10d::PrefixStore>(prefix, store);
}

[[noreturn]] void another(int64_t rank) {
  throw InputError(fmt::format("there is another rank {}; every process needs its own", rank));
}

[[noreturn]] void nobody_there(milliseconds limit) {
  throw Failure(fmt::format("rank 0 did not answer within {:g} s", in_seconds(limit)));
}

// A rank's own part in finding the others.
class Arriving {
 public:
  Arriving(const Launch& launch, milliseconds limit)
      : launch_(launch), limit_(limit), end_(Clock::now() + limit) {}

  // Returns how many have come to this store as this rank.
  int64_t enter(c10d::Store& store) const {
    const int64_t claims = store.add(claim_key(launch_.rank), 1);
    put(store, arrival_key(launch_.rank), word_ + " " + host_name());
    return claims;
  }

  // The first rank's: waits for all others, and tells them that all are there, or who is not.
  void gather(c10d::Store& store) const {
    std::vector<int64_t> missing;
    for (int64_t rank = 1; rank < launch_.count; ++rank) missing.push_back(rank);
    while (true) {
      std::erase_if(missing, [&](int64_t rank) { return arrival(store, rank).has_value(); });
      if (missing.empty()) return reply(store, "");
      if (Clock::now() > end_) break;
      std::this_thread::sleep_for(kPause);
    }
    const std::string reason =
        fmt::format("rank {} of {} has not come within {:g} s", fmt::join(missing, ", "),
                    launch_.count, in_seconds(limit_));
    reply(store, reason);
    // The store may end with this rank; the others look into it every few milliseconds.
    std::this_thread::sleep_for(milliseconds(1000));
    throw Failure(reason);
  }

  // Whether the first rank says that all are there. What it said to an earlier start of this rank,
  // in a store that outlived it, does not count. Failure where one has not come.
  bool is_welcome(c10d::Store& store) const {
    const auto text = look_up(store, reply_key(launch_.rank));
    if (!text || !text->starts_with(word_)) return false;
    const std::string reason = text->substr(word_.size());
    if (!reason.empty()) throw Failure(reason);
    return true;
  }

  bool in_time() const { return Clock::now() < end_; }

 private:
  void reply(c10d::Store& store, const std::string& reason) const {
    for (int64_t rank = 1; rank < launch_.count; ++rank) {
      if (const auto here = arrival(store, rank)) put(store, reply_key(rank), here->word + reason);
    }
  }

  const Launch& launch_;
  milliseconds limit_;
  Clock::time_point end_;
  std::string word_ = random_word();
};

void meet_in_folder(Meeting& meeting, const Launch& launch, const std::string& secret,
                    milliseconds limit) {
  const auto folder = std::make_shared<FolderMeeting>(launch, limit);
  meeting.folder = folder;
  meeting.grows = true;
  const Arriving arriving(launch, limit);
  int64_t claims = 0;
  const auto enter = [&] {
    meeting.store = private_part(folder->open(), secret, launch);
    meeting.watch_store = private_part(folder->open(), secret, launch);
    claims = arriving.enter(*meeting.store);
  };
  const auto be_patient = [&] {
    meeting.store->setTimeout(limit);
    meeting.watch_store->setTimeout(limit);
  };
  if (launch.rank == 0) {
    enter();
    folder->announce();
    arriving.gather(*meeting.store);
    return be_patient();
  }
  while (arriving.in_time()) {
    try {
      if (folder->moved()) enter();
      if (meeting.store && arriving.is_welcome(*meeting.store)) return be_patient();
    } catch (const Failure&) {
      throw;
    } catch (const std::exception&) {
      // It was that of an earlier run, and has gone.
      meeting.store = {};
      meeting.watch_store = {};
      folder->forget();
    }
    std::this_thread::sleep_for(kPause);
  }
  // Only now: the claims may be those of an earlier run, whose store the first rank had yet to
  // replace.
  if (claims > 1) another(launch.rank);
  nobody_there(limit);
}

void meet_at_address(Meeting& meeting, const Launch& launch, const std::string& secret,
                     milliseconds limit) {
  if (launch.agent_store) {
    meeting.store = private_part(agent_store(launch, limit), secret, launch);
    meeting.watch_store = private_part(agent_store(launch, limit), secret, launch);
    meeting.own_address = address_towards(launch.address, launch.port);
  } else {
    if (launch.rank == 0) {
      meeting.server = std::make_unique<StoreServer>(launch.address, launch.port, secret);
    }
    const auto connect = [&] {
      return c10::make_intrusive<SecretStore>(launch.address, launch.port, secret, limit);
    };
    const auto store = connect();
    meeting.own_address = store->own_address();
    meeting.store = store;
    meeting.watch_store = connect();
  }
  const Arriving arriving(launch, limit);
  if (arriving.enter(*meeting.store) > 1) another(launch.rank);
  if (launch.rank == 0) return arriving.gather(*meeting.store);
  while (arriving.in_time()) {
    if (arriving.is_welcome(*meeting.store)) return;
    std::this_thread::sleep_for(kPause);
  }
  nobody_there(limit);
}

}  // namespace

void put(c10d::Store& store, const std::string& key, const std::string& value) {
  store.set(key, std::vector<uint8_t>(value.begin(), value.end()));
}

std::optional<std::string> look_up(c10d::Store& store, const std::string& key) {
  if (!store.check({key})) return std::nullopt;
  const std::vector<uint8_t> value = store.get(key);
  return std::string(value.begin(), value.end());
}

Meeting meet(const Launch& launch, milliseconds limit) {
  const std::string secret = run_secret();
  Meeting meeting;
  if (launch.folder.empty()) {
    meet_at_address(meeting, launch, secret, limit);
  } else {
    meet_in_folder(meeting, launch, secret, limit);
  }
  for (int64_t rank = 0; rank < launch.count; ++rank) {
    const auto here = arrival(*meeting.store, rank);
    meeting.hosts.push_back(here ? here->host : "an unknown host");
  }
  return meeting;
}

}  // namespace edelta::dist
