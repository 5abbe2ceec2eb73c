#include "cli/page_server.h"

#include <gtest/gtest.h>

#include <string>

namespace edelta::cli {
namespace {

PageAnswer page() { return {.body = "<p>here</p>"}; }

std::string ask(const std::string& first, const std::string& head) {
  return answer_to(first + "\r\n" + head + "\r\n", page);
}

bool has_status(const std::string& answer, int status) {
  return answer.starts_with("HTTP/1.1 " + std::to_string(status) + " ");
}

TEST(PageServer, GivesThePageToThisMachinesNames) {
  for (const char* host :
       {"localhost", "LocalHost:8080", "127.0.0.1", "127.0.0.1:1", "localhost:"}) {
    const std::string answer = ask("GET / HTTP/1.1", std::string("Host: ") + host + "\r\n");
    EXPECT_TRUE(has_status(answer, 200)) << host;
    EXPECT_TRUE(answer.ends_with("\r\n\r\n<p>here</p>"));
    EXPECT_NE(answer.find("Content-Length: 11\r\n"), std::string::npos);
  }
  EXPECT_TRUE(has_status(ask("GET /?x=1 HTTP/1.1", "host:localhost\r\n"), 200));
  EXPECT_TRUE(ask("HEAD / HTTP/1.1", "Host: localhost\r\n").ends_with("\r\n\r\n"));
}

TEST(PageServer, RefusesOtherNames) {
  for (const char* host : {"example.org", "localhost.example.org", "127.0.0.1.example.org",
                           "example.org:127", "", "127.0.0.1@example.org", "localhost:80a"}) {
    EXPECT_TRUE(has_status(ask("GET / HTTP/1.1", std::string("Host: ") + host + "\r\n"), 403))
        << host;
  }
  EXPECT_TRUE(has_status(ask("GET / HTTP/1.1", "Accept: */*\r\n"), 400));
  const std::string two = "Host: localhost\r\nHost: example.org\r\n";
  EXPECT_TRUE(has_status(ask("GET / HTTP/1.1", two), 400));
}

TEST(PageServer, HasOnePageAndIsNotConfused) {
  const std::string host = "Host: localhost\r\n";
  EXPECT_TRUE(has_status(ask("GET /etc/passwd HTTP/1.1", host), 404));
  EXPECT_TRUE(has_status(ask("GET //example.org/ HTTP/1.1", host), 404));
  EXPECT_TRUE(has_status(ask("POST / HTTP/1.1", host), 405));
  EXPECT_TRUE(has_status(ask("nonsense", host), 400));
  EXPECT_TRUE(has_status(ask("", host), 400));
  EXPECT_TRUE(has_status(ask(" HTTP/1.1", host), 400));
  EXPECT_TRUE(has_status(answer_to("GET / HTTP/1.1\r\nX: " + std::string(20000, 'x'), page), 431));
}

}  // namespace
}  // namespace edelta::cli
