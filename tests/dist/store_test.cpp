#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <random>

#include "dist/rank_threads.h"
#include "dist/secret.h"
#include "dist/socket.h"
#include "dist/store_client.h"
#include "dist/store_server.h"
#include "edelta/base/error.h"
#include "expect_error.h"
#include "temporary_folder.h"

namespace edelta::dist {
namespace {

using namespace std::chrono_literals;

constexpr const char* kSecret = "one secret of many";

TEST(Store, KeepsWhatItIsTold) {
  const uint16_t port = test::free_port();
  const StoreServer server("127.0.0.1", port, kSecret);
  StoreClient one("127.0.0.1", port, kSecret, 10s), two("127.0.0.1", port, kSecret, 10s);
  EXPECT_EQ(two.get("key"), std::nullopt);
  const std::string value("a value\0with a zero", 19);
  one.set("key", value);
  EXPECT_EQ(two.get("key"), value);
  EXPECT_EQ(one.add("number", 3), 3);
  EXPECT_EQ(two.add("number", -5), -2);
  EXPECT_EQ(one.count(), 2);
  EXPECT_TRUE(two.erase("key"));
  EXPECT_FALSE(two.erase("key"));
  const std::string large(1 << 20, 'x');
  one.set("large", large);
  EXPECT_EQ(two.get("large"), large);
  EXPECT_EQ(one.own_address(), "127.0.0.1");
}

TEST(Store, RefusesWhoHasAnotherSecret) {
  const uint16_t port = test::free_port();
  const StoreServer server("127.0.0.1", port, kSecret);
  test::expect_error<InputError>(
      [&] { const StoreClient client("127.0.0.1", port, "another secret, alas", 10s); },
      "another secret");
}

TEST(Store, IsRefusedItselfWithAnotherSecret) {
  // Who listens at the port learns nothing and is not taken for the first rank.
  const uint16_t port = test::free_port();
  const Socket listener = listen_on("127.0.0.1", port);
  std::thread stranger([&] {
    Socket guest;
    while (!guest) {
      guest = Socket(::accept(listener.descriptor(), nullptr, nullptr));
      std::this_thread::sleep_for(5ms);
    }
    guest.send("SSH-2.0-OpenSSH_9.2p1 Debian\r\n", 30);
  });
  test::expect_error<InputError>([&] { const StoreClient client("127.0.0.1", port, kSecret, 10s); },
                                 "is not rank 0");
  stranger.join();
}

TEST(Store, SaysThatThePortIsInUse) {
  const uint16_t port = test::free_port();
  const Socket taken = listen_on("127.0.0.1", port);
  test::expect_error<InputError>([&] { const StoreServer other("127.0.0.1", port, kSecret); },
                                 "in use");
  test::expect_error<InputError>([&] { const StoreServer other("192.0.2.1", port, kSecret); },
                                 "no address of this machine");
}

TEST(Store, SaysThatNobodyAnswers) {
  const test::HeldPort port;
  test::expect_error<InputError>(
      [&] { const StoreClient client("127.0.0.1", port.number(), kSecret, 300ms); },
      "nobody answered");
}

TEST(Store, ListensOnItsAddressAlone) {
  const uint16_t port = test::free_port();
  const StoreServer server("127.0.0.2", port, kSecret);
  EXPECT_FALSE(connect_to("127.0.0.1", port, 1s));
  EXPECT_TRUE(connect_to("127.0.0.2", port, 1s));
}

// Ranks come and go while strangers send whatever they like, or nothing, or half of what they
// should.
TEST(Store, EnduresStrangers) {
  const uint16_t port = test::free_port();
  const StoreServer server("127.0.0.1", port, kSecret);
  StoreClient early("127.0.0.1", port, kSecret, 10s);
  std::atomic<bool> stops = false;
  std::thread strangers([&] {
    std::mt19937 random(1);
    std::vector<Socket> held;
    while (!stops) {
      Socket socket = connect_to("127.0.0.1", port, 1s);
      if (!socket) continue;
      std::string bytes(random() % 200, '\0');
      for (char& byte : bytes) byte = static_cast<char>(random());
      socket.send(bytes.data(), bytes.size());
      if (random() % 2 == 0) held.push_back(std::move(socket));
      if (held.size() > 100) held.erase(held.begin(), held.begin() + 50);
      std::this_thread::sleep_for(1ms);
    }
  });
  for (int i = 0; i < 20; ++i) {
    StoreClient late("127.0.0.1", port, kSecret, 10s);
    late.set("turn", std::to_string(i));
    EXPECT_EQ(early.get("turn"), std::to_string(i));
  }
  EXPECT_EQ(early.count(), 1);
  stops = true;
  strangers.join();
}

// One that holds the secret and then sends nonsense loses its connection, and nobody else does.
TEST(Store, EndsAConnectionThatAsksNonsense) {
  const uint16_t port = test::free_port();
  const StoreServer server("127.0.0.1", port, kSecret);
  StoreClient good("127.0.0.1", port, kSecret, 10s);
  StoreClient longest("127.0.0.1", port, kSecret, 10s);
  EXPECT_THROW(longest.set("key", std::string(5 << 20, 'x')), Failure);
  good.set("key", "value");
  EXPECT_EQ(good.get("key"), "value");
}

class SecretTest : public testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("EDELTA_SECRET");
    ::setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1);
  }
  void TearDown() override { ::unsetenv("XDG_CONFIG_HOME"); }
  test::TemporaryFolder folder_;
};

TEST_F(SecretTest, IsMadeOnceAndForItsUserAlone) {
  const std::string secret = run_secret();
  EXPECT_EQ(secret.size(), 64);
  EXPECT_EQ(run_secret(), secret);
  struct stat found{};
  ASSERT_EQ(::stat((folder_ / "edelta/secret").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600);
  ::chmod((folder_ / "edelta/secret").c_str(), 0644);
  test::expect_error<InputError>([&] { run_secret(); }, "others can read it");
}

TEST_F(SecretTest, IsTheEnvironmentsWhereThereIsOne) {
  ::setenv("EDELTA_SECRET", "chosen by the user", 1);
  EXPECT_EQ(run_secret(), "chosen by the user");
  ::setenv("EDELTA_SECRET", "short", 1);
  test::expect_error<InputError>([&] { run_secret(); }, "5 characters");
  ::unsetenv("EDELTA_SECRET");
}

TEST(Secret, DigestsAreThoseOfTheStandard) {
  // RFC 4231, test case 2.
  EXPECT_EQ(hexadecimal(keyed_digest("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

}  // namespace
}  // namespace edelta::dist
