#include "dist/socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "edelta/base/error.h"

namespace edelta::dist {
namespace {

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

Addresses resolve(const std::string& host, uint16_t port, int kind, int flags) {
  addrinfo wanted{};
  wanted.ai_socktype = kind;
  wanted.ai_flags = flags;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (error != 0) throw InputError(fmt::format("{}: {}", host, ::gai_strerror(error)));
  return {found, ::freeaddrinfo};
}

void set_option(int descriptor, int level, int name) {
  const int on = 1;
  ::setsockopt(descriptor, level, name, &on, sizeof on);
}

std::string numeric(const sockaddr* address, socklen_t size) {
  std::array<char, NI_MAXHOST> host{};
  const int error =
      ::getnameinfo(address, size, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST);
  return error == 0 ? host.data() : "";
}

// Whether a connection that was begun has come about within the limit.
bool established(int descriptor, std::chrono::milliseconds limit) {
  pollfd waiting{descriptor, POLLOUT, 0};
  if (::poll(&waiting, 1, static_cast<int>(limit.count())) != 1) return false;
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

}  // namespace

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

bool Socket::send(const void* data, size_t bytes) const {
  const auto* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = ::send(descriptor_, next, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    next += sent;
    bytes -= static_cast<size_t>(sent);
  }
  return true;
}

bool Socket::receive(void* data, size_t bytes) const {
  auto* next = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = ::recv(descriptor_, next, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    next += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

void Socket::limit_waits(std::chrono::milliseconds limit) const {
  timeval time{};
  time.tv_sec = limit.count() / 1000;
  time.tv_usec = limit.count() % 1000 * 1000;
  ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  ::setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

std::string Socket::own_address() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  return ::getsockname(descriptor_, plain, &size) == 0 ? numeric(plain, size) : "";
}

std::string endpoint_text(const std::string& host, uint16_t port) {
  const bool brackets = host.find(':') != std::string::npos;
  return brackets ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

Socket listen_on(const std::string& host, uint16_t port) {
  constexpr int kBacklog = 1024;
  const Addresses addresses = resolve(host, port, SOCK_STREAM, AI_PASSIVE);
  int error = EADDRNOTAVAIL;
  for (const addrinfo* each = addresses.get(); each != nullptr; each = each->ai_next) {
    Socket socket(::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    // A port whose last user has just ended may be taken at once.
    if (socket) set_option(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR);
    if (socket && ::bind(socket.descriptor(), each->ai_addr, each->ai_addrlen) == 0 &&
        ::listen(socket.descriptor(), kBacklog) == 0) {
      return socket;
    }
    error = errno;
  }
  const std::string place = endpoint_text(host, port);
  if (error == EADDRINUSE) {
    throw InputError(fmt::format("{}: the port is in use; choose another MASTER_PORT", place));
  }
  if (error == EADDRNOTAVAIL) {
    throw InputError(fmt::format(
        "{}: that is no address of this machine, where rank 0 runs; it must be MASTER_ADDR",
        place));
  }
  throw InputError(fmt::format("{}: {}", place, std::strerror(error)));
}

Socket connect_to(const std::string& host, uint16_t port, std::chrono::milliseconds limit) {
  const Addresses addresses = resolve(host, port, SOCK_STREAM, 0);
  for (const addrinfo* each = addresses.get(); each != nullptr; each = each->ai_next) {
    Socket socket(::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) continue;
    const int begun = ::connect(socket.descriptor(), each->ai_addr, each->ai_addrlen);
    if (begun != 0 && (errno != EINPROGRESS || !established(socket.descriptor(), limit))) continue;
    const int flags = ::fcntl(socket.descriptor(), F_GETFL);
    ::fcntl(socket.descriptor(), F_SETFL, flags & ~O_NONBLOCK);
    set_option(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY);
    return socket;
  }
  return {};
}

std::string address_towards(const std::string& host, uint16_t port) {
  // Nothing is sent: the system only chooses a way.
  const Addresses addresses = resolve(host, port, SOCK_DGRAM, 0);
  for (const addrinfo* each = addresses.get(); each != nullptr; each = each->ai_next) {
    const Socket socket(::socket(each->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (socket && ::connect(socket.descriptor(), each->ai_addr, each->ai_addrlen) == 0) {
      return socket.own_address();
    }
  }
  throw InputError(fmt::format("{}: there is no way to it from here", host));
}

}  // namespace edelta::dist
