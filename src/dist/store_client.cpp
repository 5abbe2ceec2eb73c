#include "dist/store_client.h"

#include <fmt/format.h>

#include <thread>

#include "dist/store_protocol.h"
#include "edelta/base/error.h"

namespace edelta::dist {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr auto kPause = milliseconds(50);

enum class Meeting { met, cut_off, no_store, other_secret };

// Both ends prove that they hold the secret.
Meeting meet(const Socket& socket, const std::string& secret) {
  std::array<char, kGreeting.size()> greeting{};
  Digest challenge, proof;
  if (!socket.receive(greeting.data(), greeting.size())) return Meeting::cut_off;
  if (greeting != kGreeting) return Meeting::no_store;
  if (!socket.receive(challenge.data(), challenge.size())) return Meeting::cut_off;
  const Digest own = random_bytes();
  const Digest own_proof = client_proof(secret, challenge, own);
  if (!socket.send(own.data(), own.size()) || !socket.send(own_proof.data(), own_proof.size())) {
    return Meeting::cut_off;
  }
  // A server drops who proves nothing.
  if (!socket.receive(proof.data(), proof.size())) return Meeting::other_secret;
  return same_digest(proof, server_proof(secret, challenge, own)) ? Meeting::met
                                                                  : Meeting::no_store;
}

}  // namespace

StoreClient::StoreClient(const std::string& host, uint16_t port, const std::string& secret,
                         milliseconds limit)
    : place_(endpoint_text(host, port)) {
  const auto end = Clock::now() + limit;
  const auto left = [&] {
    const auto rest = std::chrono::duration_cast<milliseconds>(end - Clock::now());
    return std::max(rest, milliseconds(1));
  };
  // Under a flood of strangers a rank may be turned away, so that one refusal is not the last word.
  constexpr int kMostRefusals = 5;
  int refusals = 0;
  bool answered = false;
  while (Clock::now() < end) {
    socket_ = connect_to(host, port, left());
    if (socket_) {
      socket_.limit_waits(left());
      const Meeting meeting = meet(socket_, secret);
      if (meeting == Meeting::met) {
        socket_.limit_waits(limit);
        return;
      }
      answered = true;
      if (meeting == Meeting::no_store) {
        throw InputError(fmt::format("{}: what answers there is not rank 0 of a run", place_));
      }
      if (meeting == Meeting::other_secret && ++refusals == kMostRefusals) {
        throw InputError(
            fmt::format("{}: rank 0 refuses this rank, which has another secret", place_));
      }
    }
    std::this_thread::sleep_for(kPause);
  }
  const double seconds = std::chrono::duration<double>(limit).count();
  throw InputError(answered
                       ? fmt::format("{}: what answers there is not rank 0 of a run", place_)
                       : fmt::format("{}: nobody answered within {:g} s; rank 0 must run there",
                                     place_, seconds));
}

void StoreClient::set(const std::string& key, const std::string& value) {
  ask(static_cast<char>(Question::set), key, value);
}

std::optional<std::string> StoreClient::get(const std::string& key) {
  Answer answer = ask(static_cast<char>(Question::get), key, {});
  if (!answer.there) return std::nullopt;
  return std::move(answer.value);
}

int64_t StoreClient::add(const std::string& key, int64_t amount) {
  return std::atoll(
      ask(static_cast<char>(Question::add), key, std::to_string(amount)).value.c_str());
}

bool StoreClient::erase(const std::string& key) {
  return ask(static_cast<char>(Question::erase), key, {}).there;
}

int64_t StoreClient::count() {
  return std::atoll(ask(static_cast<char>(Question::count), {}, {}).value.c_str());
}

StoreClient::Answer StoreClient::ask(char question, const std::string& key,
                                     const std::string& value) {
  std::string frame;
  append_number(frame, static_cast<uint32_t>(5 + key.size() + value.size()));
  frame += question;
  append_number(frame, static_cast<uint32_t>(key.size()));
  frame += key;
  frame += value;
  const std::lock_guard lock(mutex_);
  std::array<char, 4> length{};
  std::string answer;
  bool heard =
      socket_.send(frame.data(), frame.size()) && socket_.receive(length.data(), length.size());
  if (heard) {
    const uint32_t size = number_at(length.data());
    heard = size > 0 && size <= kLongestFrame;
    if (heard) {
      answer.resize(size);
      heard = socket_.receive(answer.data(), size);
    }
  }
  if (!heard) {
    // A late answer would be taken for that of the next question.
    socket_ = Socket();
    throw Failure(fmt::format("{}: the store does not answer any more", place_));
  }
  return {answer[0] != '\0', answer.substr(1)};
}

}  // namespace edelta::dist
