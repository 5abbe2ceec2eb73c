// Where ranks find each other: texts by key, kept by the first rank.
//
// c10d's own TCP store listens on every address of the machine and takes orders from whoever
// connects (Debian 12's also stands still when one connection sends half an order). This one
// listens on one address, answers only who holds the secret, and reads from all connections as they
// come.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "dist/socket.h"

namespace edelta::dist {

class StoreServer {
 public:
  // InputError where the address is not this machine's or the port is in use.
  StoreServer(const std::string& host, uint16_t port, std::string secret);
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

 private:
  Socket listener_;
  std::string secret_;
  std::atomic<bool> stops_ = false;
  std::thread thread_;
};

}  // namespace edelta::dist
