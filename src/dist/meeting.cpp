#include "dist/meeting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <thread>

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

std::string claim_key(int64_t rank) { return fmt::format("claim/{}", rank); }
std::string host_key(int64_t rank) { return fmt::format("host/{}", rank); }
constexpr const char* kWelcome = "welcome";

// A store in a shared folder. A run that was killed leaves its own behind, so every start has a new
// one; DIR/session says which.
class FolderMeeting {
 public:
  FolderMeeting(const Launch& launch, milliseconds limit)
      : launch_(launch), limit_(limit), session_(fs::path(launch.folder) / "session") {
    base::make_folder(launch.folder);
    if (launch.rank > 0) return;
    std::error_code ignored;
    if (const std::string old = announced(); !old.empty()) {
      fs::remove(fs::path(launch_.folder) / old, ignored);
    }
    name_ = "store-" + hexadecimal(random_bytes()).substr(0, 16);
  }

  // Told by the first rank once its store is there.
  void announce() const { base::write_text_atomically(session_, name_ + "\n"); }

  // Whether the first rank has begun another session than the one that this rank is in.
  bool moved() {
    const std::string now = announced();
    if (now.empty() || now == name_ || !fs::exists(fs::path(launch_.folder) / now)) return false;
    name_ = now;
    return true;
  }

  StorePointer open() const {
    const std::string path = (fs::path(launch_.folder) / name_).string();
    auto store = c10::make_intrusive<c10d::FileStore>(path, static_cast<int>(-1));
    store->setTimeout(limit_);
    return store;
  }

 private:
  std::string announced() const {
    if (!fs::exists(session_)) return {};
    std::string text = base::read_text(session_, 256);
    text.erase(text.find_last_not_of('\n') + 1);
    return text.starts_with("store-") && text.find('/') == std::string::npos ? text : "";
  }

  const Launch& launch_;
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

void claim(c10d::Store& store, int64_t rank) {
  if (store.add(claim_key(rank), 1) > 1) {
    throw InputError(fmt::format("there is another rank {}; every process needs its own", rank));
  }
  put(store, host_key(rank), host_name());
}

// The first rank waits for all others.
void gather(c10d::Store& store, const Launch& launch, milliseconds limit) {
  const auto end = Clock::now() + limit;
  std::vector<int64_t> missing;
  for (int64_t rank = 1; rank < launch.count; ++rank) missing.push_back(rank);
  while (true) {
    std::erase_if(missing, [&](int64_t rank) { return store.check({host_key(rank)}); });
    if (missing.empty()) break;
    if (Clock::now() > end) {
      throw Failure(fmt::format("rank {} of {} has not come within {:g} s",
                                fmt::join(missing, ", "), launch.count, in_seconds(limit)));
    }
    std::this_thread::sleep_for(kPause);
  }
  put(store, kWelcome, "1");
}

[[noreturn]] void nobody_there(milliseconds limit) {
  throw Failure(fmt::format("rank 0 did not answer within {:g} s", in_seconds(limit)));
}

void meet_in_folder(Meeting& meeting, const Launch& launch, const std::string& secret,
                    milliseconds limit) {
  FolderMeeting folder(launch, limit);
  const auto enter = [&] {
    meeting.store = private_part(folder.open(), secret, launch);
    meeting.watch_store = private_part(folder.open(), secret, launch);
    claim(*meeting.store, launch.rank);
  };
  if (launch.rank == 0) {
    enter();
    folder.announce();
    return gather(*meeting.store, launch, limit);
  }
  for (const auto end = Clock::now() + limit; Clock::now() < end;) {
    if (folder.moved()) enter();
    if (meeting.store && meeting.store->check({kWelcome})) return;
    std::this_thread::sleep_for(kPause);
  }
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
  claim(*meeting.store, launch.rank);
  if (launch.rank == 0) return gather(*meeting.store, launch, limit);
  for (const auto end = Clock::now() + limit; Clock::now() < end;) {
    if (meeting.store->check({kWelcome})) return;
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
    meeting.hosts.push_back(look_up(*meeting.store, host_key(rank)).value_or("an unknown host"));
  }
  return meeting;
}

}  // namespace edelta::dist
