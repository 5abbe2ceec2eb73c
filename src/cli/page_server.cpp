#include "cli/page_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "edelta/base/error.h"

namespace edelta::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLongestRequest = 16 << 10;
constexpr std::size_t kMostConnections = 64;
constexpr auto kPatience = std::chrono::seconds(30);  // browsers open connections ahead of need
constexpr int kPauseMilliseconds = 200;

const char* reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return "Internal Server Error";
  }
}

// The page runs its own script and shows its own pictures, and nothing else.
std::string formatted(const PageAnswer& answer, bool with_body) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
      "Content-Security-Policy: default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'\r\n"
      "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n{}Connection: "
      "close\r\n\r\n{}",
      answer.status, reason_of(answer.status), answer.type, answer.body.size(),
      answer.status == 405 ? "Allow: GET, HEAD\r\n" : "", with_body ? answer.body : "");
}

PageAnswer refusal(int status, const std::string& why) {
  return {status, "text/plain; charset=utf-8", why + "\n"};
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t";
  const auto first = text.find_first_not_of(kSpace);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// The lines of the head, without their ends.
std::vector<std::string_view> head_lines(std::string_view request) {
  std::vector<std::string_view> lines;
  while (!request.empty()) {
    const auto end = std::min(request.find("\r\n"), request.size());
    if (end == 0) break;
    lines.push_back(request.substr(0, end));
    request.remove_prefix(std::min(end + 2, request.size()));
  }
  return lines;
}

// "localhost" or "127.0.0.1", with any port: it may be forwarded from another machine.
bool is_local(std::string_view host) {
  if (const auto colon = host.rfind(':'); colon != host.npos) {
    const std::string_view port = host.substr(colon + 1);
    if (!std::all_of(port.begin(), port.end(), [](unsigned char c) { return std::isdigit(c); })) {
      return false;
    }
    host = host.substr(0, colon);
  }
  const std::string name = lower(host);
  return name == "localhost" || name == "127.0.0.1";
}

// Nothing where it is missing or given more than once.
std::optional<std::string_view> host_of(const std::vector<std::string_view>& lines) {
  std::optional<std::string_view> host;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto colon = lines[i].find(':');
    if (colon == lines[i].npos || lower(lines[i].substr(0, colon)) != "host") continue;
    if (host) return std::nullopt;
    host = trimmed(lines[i].substr(colon + 1));
  }
  return host;
}

bool is_whole(const std::string& request) { return request.find("\r\n\r\n") != request.npos; }

[[noreturn]] void fail(const char* what) {
  throw Failure(fmt::format("{}: {}", what, std::strerror(errno)));
}

}  // namespace

std::string answer_to(const std::string& request, const std::function<PageAnswer()>& page) {
  if (!is_whole(request)) return formatted(refusal(431, "the request is too long"), true);
  const std::vector<std::string_view> lines = head_lines(request);
  const std::string_view first = lines.empty() ? std::string_view() : lines[0];
  const auto space = first.find(' '), second = first.rfind(" HTTP/1.");
  if (space == first.npos || second == first.npos || second <= space) {
    return formatted(refusal(400, "this is no HTTP request"), true);
  }
  const std::optional<std::string_view> host = host_of(lines);
  if (!host) return formatted(refusal(400, "the request names no host"), true);
  if (!is_local(*host)) {
    return formatted(refusal(403, "this is served to http://localhost and 127.0.0.1 alone"), true);
  }
  const std::string_view method = first.substr(0, space);
  const bool with_body = method != "HEAD";
  if (method != "GET" && method != "HEAD") {
    return formatted(refusal(405, "there is only something to get"), true);
  }
  const std::string_view target = first.substr(space + 1, second - space - 1);
  if (target.substr(0, target.find('?')) != "/") {
    return formatted(refusal(404, "there is only one page, /"), with_body);
  }
  return formatted(page(), with_body);
}

PageServer::PageServer(std::uint16_t port) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0) fail("cannot open a socket");
  // Else a port stays taken for a minute after the last watch.
  const int yes = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, generic, size) != 0 || ::listen(listener_, SOMAXCONN) != 0 ||
      ::getsockname(listener_, generic, &size) != 0) {
    const int error = errno;
    ::close(listener_);
    throw InputError(fmt::format("cannot serve on port {}: {}", port, std::strerror(error)));
  }
  port_ = ntohs(address.sin_port);
}

PageServer::~PageServer() {
  for (const Connection& connection : connections_) ::close(connection.descriptor);
  ::close(listener_);
}

int PageServer::serve(const std::function<PageAnswer()>& page,
                      const std::function<int()>& stop_signal) {
  for (;;) {
    if (const int signal = stop_signal()) return signal;
    std::vector<pollfd> waiting{{listener_, POLLIN, 0}};
    for (const Connection& connection : connections_) {
      const short wanted = connection.answer.empty() ? POLLIN : POLLOUT;
      waiting.push_back({connection.descriptor, wanted, 0});
    }
    if (::poll(waiting.data(), waiting.size(), kPauseMilliseconds) < 0 && errno != EINTR) {
      fail("cannot wait for requests");
    }
    auto polled = waiting.begin() + 1;
    for (auto each = connections_.begin(); each != connections_.end();) {
      const bool ready = (polled++)->revents != 0;
      const bool goes_on = ready ? advance(*each, page) : Clock::now() - each->since < kPatience;
      if (!goes_on) ::close(each->descriptor);
      each = goes_on ? std::next(each) : connections_.erase(each);
    }
    if (waiting[0].revents != 0) accept_all();
  }
}

void PageServer::accept_all() {
  for (;;) {
    const int descriptor = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor < 0) return;
    if (connections_.size() == kMostConnections) {  // the oldest is the least likely to go on
      ::close(connections_.front().descriptor);
      connections_.pop_front();
    }
    connections_.push_back({descriptor, Clock::now()});
  }
}

bool PageServer::advance(Connection& connection, const std::function<PageAnswer()>& page) {
  const auto again = [] { return errno == EAGAIN || errno == EINTR; };
  if (connection.answer.empty()) {
    char buffer[4096];
    const ssize_t count = ::recv(connection.descriptor, buffer, sizeof buffer, 0);
    if (count <= 0) return count < 0 && again();
    connection.request.append(buffer, static_cast<std::size_t>(count));
    if (!is_whole(connection.request) && connection.request.size() < kLongestRequest) return true;
    connection.answer = answer_to(connection.request, page);
    connection.since = Clock::now();
  }
  const ssize_t sent = ::send(connection.descriptor, connection.answer.data(),
                              connection.answer.size(), MSG_NOSIGNAL);
  if (sent < 0) return again();
  connection.answer.erase(0, static_cast<std::size_t>(sent));
  return !connection.answer.empty();
}

}  // namespace edelta::cli
