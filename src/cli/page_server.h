// One page over HTTP, for a browser on this machine.
//
// Written out here because it is so little: Debian's HTTP libraries bring OpenSSL and compression
// along, to the program and to everybody who builds it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <string>

namespace edelta::cli {

struct PageAnswer {
  int status = 200;
  std::string type = "text/html; charset=utf-8";
  std::string body;
};

// Listens on the loopback address alone. Requests under another host's name are refused: a web page
// elsewhere could else make its own name lead here and read what is served.
class PageServer {
 public:
  // 0: a free port. InputError where the port is taken or not allowed.
  explicit PageServer(std::uint16_t port);
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  std::uint16_t port() const { return port_; }

  // Answers every GET of / with `page()` until `stop_signal()`, asked several times a second, is
  // not 0; returns that.
  int serve(const std::function<PageAnswer()>& page, const std::function<int()>& stop_signal);

 private:
  struct Connection {
    int descriptor;
    std::chrono::steady_clock::time_point since;
    std::string request = {};
    std::string answer = {};  // what is left of it
  };

  void accept_all();
  // False once the connection is done with.
  bool advance(Connection& connection, const std::function<PageAnswer()>& page);

  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::list<Connection> connections_;
};

// The whole answer to a whole request, of which only the head is looked at.
std::string answer_to(const std::string& request, const std::function<PageAnswer()>& page);

}  // namespace edelta::cli
