// TCP sockets that close themselves.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace edelta::dist {

class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket();
  Socket(Socket&& other) noexcept : descriptor_(other.release()) {}
  Socket& operator=(Socket&& other) noexcept;

  int descriptor() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

  // All of it within the socket's time limit, or false.
  bool send(const void* data, size_t bytes) const;
  bool receive(void* data, size_t bytes) const;
  void limit_waits(std::chrono::milliseconds limit) const;
  // The numeric address of this end.
  std::string own_address() const;

 private:
  int release() {
    const int descriptor = descriptor_;
    descriptor_ = -1;
    return descriptor;
  }

  int descriptor_ = -1;
};

// "HOST:29500", with brackets around an IPv6 address.
std::string endpoint_text(const std::string& host, uint16_t port);

// Listens on this address and on no other. InputError where the address is not this machine's or
// the port is in use.
Socket listen_on(const std::string& host, uint16_t port);

// One try; an empty socket where nobody answers there. InputError where no such host is known.
Socket connect_to(const std::string& host, uint16_t port, std::chrono::milliseconds limit);

// The address by which this machine reaches that one.
std::string address_towards(const std::string& host, uint16_t port);

}  // namespace edelta::dist
