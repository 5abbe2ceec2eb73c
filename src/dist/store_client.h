// A rank's end of the store (dist/store_server.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "dist/socket.h"

namespace edelta::dist {

// Any thread may ask. Failure where the server does not answer any more.
class StoreClient {
 public:
  // Tries until the server is there. InputError where nobody answers within the limit, or who
  // answers is no store or has another secret.
  StoreClient(const std::string& host, uint16_t port, const std::string& secret,
              std::chrono::milliseconds limit);

  void set(const std::string& key, const std::string& value);
  std::optional<std::string> get(const std::string& key);
  int64_t add(const std::string& key, int64_t amount);
  bool erase(const std::string& key);
  int64_t count();

  // This machine's, by which it reaches the server.
  std::string own_address() const { return socket_.own_address(); }

 private:
  struct Answer {
    bool there;
    std::string value;
  };
  Answer ask(char question, const std::string& key, const std::string& value);

  std::string place_;
  Socket socket_;
  std::mutex mutex_;
};

}  // namespace edelta::dist
