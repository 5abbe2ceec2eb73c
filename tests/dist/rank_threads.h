// Several ranks as threads of one process.
#pragma once

#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "dist/join.h"

namespace edelta::test {

// A port that nobody else gets, and at which nobody listens.
class HeldPort {
 public:
  HeldPort() : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* plain = reinterpret_cast<sockaddr*>(&address);
    ::bind(descriptor_, plain, sizeof address);
    socklen_t size = sizeof address;
    ::getsockname(descriptor_, plain, &size);
    number_ = ntohs(address.sin_port);
  }
  ~HeldPort() { ::close(descriptor_); }
  HeldPort(const HeldPort&) = delete;
  HeldPort& operator=(const HeldPort&) = delete;

  uint16_t number() const { return number_; }

 private:
  int descriptor_;
  uint16_t number_ = 0;
};

// For one who listens there at once.
inline uint16_t free_port() { return HeldPort().number(); }

// Calls body(ranks) at each of `count` ranks; what one of them throws is thrown here.
inline void on_ranks(int64_t count, const std::function<void(dist::Ranks&)>& body,
                     std::chrono::milliseconds limit = std::chrono::seconds(60)) {
  ::setenv("EDELTA_SECRET", "a secret of the tests", 1);
  const uint16_t port = free_port();
  std::vector<std::exception_ptr> errors(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        dist::Launch launch;
        launch.rank = rank;
        launch.count = count;
        launch.address = "127.0.0.1";
        launch.port = port;
        const auto ranks = dist::join(launch, limit);
        try {
          body(*ranks);
        } catch (const std::exception& error) {
          ranks->leave(error.what());
          throw;
        }
      } catch (...) {
        errors[static_cast<size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace edelta::test
