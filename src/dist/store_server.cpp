#include "dist/store_server.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <memory>
#include <vector>

#include "dist/store_protocol.h"

namespace edelta::dist {
namespace {

using Clock = std::chrono::steady_clock;

// Who has not proved anything yet costs little and not for long; ranks need milliseconds.
constexpr size_t kMostStrangers = 64;
constexpr auto kTimeToProve = std::chrono::seconds(10);
constexpr size_t kMostUnread = size_t{16} << 20;  // of answers that a rank does not fetch
constexpr auto kPause = std::chrono::milliseconds(50);

class Connection {
 public:
  Connection(Socket socket, const std::string& secret)
      : socket_(std::move(socket)), secret_(secret), challenge_(random_bytes()) {
    out_.append(kGreeting.data(), kGreeting.size());
    out_.append(reinterpret_cast<const char*>(challenge_.data()), challenge_.size());
  }

  int descriptor() const { return socket_.descriptor(); }
  bool proven() const { return proven_; }
  bool has_to_send() const { return !out_.empty(); }
  Clock::time_point begun() const { return begun_; }

  // False where the connection is over.
  bool read(std::map<std::string, std::string>& values) {
    char buffer[65536];
    const ssize_t got = ::recv(descriptor(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    in_.append(buffer, static_cast<size_t>(got));
    if (!proven_) return check_proof() && (!proven_ || answer_all(values));
    return answer_all(values);
  }

  bool write() {
    const ssize_t sent =
        ::send(descriptor(), out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN || errno == EINTR;
    out_.erase(0, static_cast<size_t>(sent));
    return true;
  }

 private:
  bool check_proof() {
    Digest client, proof;
    if (in_.size() < client.size() + proof.size()) return true;
    std::memcpy(client.data(), in_.data(), client.size());
    std::memcpy(proof.data(), in_.data() + client.size(), proof.size());
    in_.erase(0, client.size() + proof.size());
    if (!same_digest(proof, client_proof(secret_, challenge_, client))) return false;
    proven_ = true;
    const Digest own = server_proof(secret_, challenge_, client);
    out_.append(reinterpret_cast<const char*>(own.data()), own.size());
    return true;
  }

  bool answer_all(std::map<std::string, std::string>& values) {
    while (in_.size() >= 4) {
      const uint32_t length = number_at(in_.data());
      if (length > kLongestFrame) return false;
      if (in_.size() < 4 + size_t{length}) break;
      if (!answer(std::string_view(in_).substr(4, length), values)) return false;
      in_.erase(0, 4 + size_t{length});
    }
    return out_.size() <= kMostUnread;
  }

  bool answer(std::string_view question, std::map<std::string, std::string>& values) {
    constexpr size_t kHead = 5;
    if (question.size() < kHead) return false;
    const uint32_t key_length = number_at(question.data() + 1);
    if (key_length > question.size() - kHead) return false;
    const std::string key(question.substr(kHead, key_length));
    const std::string value(question.substr(kHead + key_length));
    const auto found = values.find(key);
    const bool there = found != values.end();
    switch (static_cast<Question>(question[0])) {
      case Question::set:
        values[key] = value;
        reply(true, {});
        return true;
      case Question::get:
        reply(there, there ? found->second : std::string());
        return true;
      case Question::add: {
        const long long sum =
            (there ? std::atoll(found->second.c_str()) : 0) + std::atoll(value.c_str());
        values[key] = std::to_string(sum);
        reply(true, values[key]);
        return true;
      }
      case Question::erase:
        reply(values.erase(key) > 0, {});
        return true;
      case Question::count:
        reply(true, std::to_string(values.size()));
        return true;
    }
    return false;
  }

  void reply(bool there, const std::string& value) {
    append_number(out_, static_cast<uint32_t>(value.size() + 1));
    out_ += there ? '\1' : '\0';
    out_ += value;
  }

  Socket socket_;
  const std::string& secret_;
  Digest challenge_;
  Clock::time_point begun_ = Clock::now();
  bool proven_ = false;
  std::string in_, out_;
};

// The server's thread.
class Service {
 public:
  Service(int listener, const std::string& secret) : listener_(listener), secret_(secret) {}

  void turn() {
    std::vector<pollfd> waiting{{listener_, POLLIN, 0}};
    for (const auto& each : connections_) {
      const auto events = static_cast<short>(POLLIN | (each->has_to_send() ? POLLOUT : 0));
      waiting.push_back({each->descriptor(), events, 0});
    }
    if (::poll(waiting.data(), waiting.size(), static_cast<int>(kPause.count())) <= 0) {
      drop_slow();
      return;
    }
    for (size_t i = connections_.size(); i-- > 0;) {
      const short events = waiting[i + 1].revents;
      if (events != 0 && !serve(*connections_[i], events)) {
        connections_.erase(connections_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    if (waiting[0].revents != 0) welcome();
    drop_slow();
  }

 private:
  bool serve(Connection& connection, short events) {
    if ((events & POLLIN) != 0) {
      if (!connection.read(values_)) return false;
    } else if ((events & (POLLHUP | POLLERR | POLLNVAL)) != 0) {
      return false;
    }
    return !connection.has_to_send() || connection.write();
  }

  void welcome() {
    Socket socket(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) {
      // Without descriptors left it would be asked again at once.
      if (errno == EMFILE || errno == ENFILE) std::this_thread::sleep_for(kPause);
      return;
    }
    if (strangers() >= kMostStrangers) {
      const auto oldest = std::find_if(connections_.begin(), connections_.end(),
                                       [](const auto& each) { return !each->proven(); });
      connections_.erase(oldest);
    }
    auto connection = std::make_unique<Connection>(std::move(socket), secret_);
    if (connection->write()) connections_.push_back(std::move(connection));
  }

  size_t strangers() const {
    return static_cast<size_t>(std::count_if(connections_.begin(), connections_.end(),
                                             [](const auto& each) { return !each->proven(); }));
  }

  void drop_slow() {
    const auto now = Clock::now();
    std::erase_if(connections_, [&](const auto& each) {
      return !each->proven() && now - each->begun() > kTimeToProve;
    });
  }

  int listener_;
  const std::string& secret_;
  std::vector<std::unique_ptr<Connection>> connections_;  // the oldest first
  std::map<std::string, std::string> values_;
};

}  // namespace

StoreServer::StoreServer(const std::string& host, uint16_t port, std::string secret)
    : listener_(listen_on(host, port)), secret_(std::move(secret)), thread_([this] {
        Service service(listener_.descriptor(), secret_);
        while (!stops_) service.turn();
      }) {}

StoreServer::~StoreServer() {
  stops_ = true;
  thread_.join();
}

}  // namespace edelta::dist
