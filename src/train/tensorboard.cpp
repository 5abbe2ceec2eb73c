#include "train/tensorboard.h"

#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/crc32c.h"
#include "edelta/base/error.h"

namespace edelta::train {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie");

// The few kinds of protocol buffers' fields that events have. Each is a key, number · 8 + kind, and
// the value.
class Message {
 public:
  Message& integer(unsigned number, uint64_t value) {
    varint(number << 3);
    varint(value);
    return *this;
  }
  Message& real(unsigned number, double value) { return fixed(number << 3 | 1, value); }
  Message& real(unsigned number, float value) { return fixed(number << 3 | 5, value); }
  Message& text(unsigned number, std::string_view value) {
    varint(number << 3 | 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(unsigned number, const Message& value) { return text(number, value.bytes_); }

  const std::string& bytes() const { return bytes_; }

 private:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  template <class Number>
  Message& fixed(unsigned key, Number value) {
    varint(key);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }

  std::string bytes_;
};

double wall_time() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// tensorflow/core/util/event.proto: wall_time = 1, step = 2, file_version = 3, summary = 5,
// session_log = 7 (status = 1, of which START is 1).
Message event(int64_t step) {
  return Message().real(1, wall_time()).integer(2, static_cast<uint64_t>(step));
}

// tensorflow/core/framework/summary.proto: value = 1 (tag = 1, simple_value = 2).
void add_scalar(Message& summary, const std::string& tag, const json& value) {
  if (!value.is_number()) return;  // null stands for what is not finite
  summary.message(1, Message().text(1, tag).real(2, static_cast<float>(value.get<double>())));
}

Message summary_of(const json& entry) {
  static const std::vector<std::pair<const char*, const char*>> kTags{
      {"train_loss", "loss/train"},
      {"val_loss", "loss/validation"},
      {"gate_loss", "loss/gate"},
      {"lr", "optimiser/learning_rate"},
      {"gradient_norm", "optimiser/gradient_norm"},
      {"parameter_norm", "optimiser/parameter_norm"},
      {"tokens_per_second", "speed/tokens_per_second"}};
  Message summary;
  for (const auto& [key, tag] : kTags) {
    if (const auto found = entry.find(key); found != entry.end()) add_scalar(summary, tag, *found);
  }
  if (const auto strata = entry.find("strata"); strata != entry.end()) {
    for (const auto& [name, loss] : strata->items()) {
      add_scalar(summary, "loss/validation/" + name, loss);
    }
  }
  if (const auto gamma = entry.find("gamma"); gamma != entry.end()) {
    for (size_t i = 0; i < gamma->size(); ++i) {
      add_scalar(summary, fmt::format("gamma/{}", i), (*gamma)[i]);
    }
  }
  return summary;
}

// A checksum of bytes that contain checksums says little, hence the rotation and the constant.
uint32_t masked_crc(std::string_view bytes) {
  return std::rotr(base::crc32c(bytes), 15) + 0xa282ead8;
}

// Readers take the files of a folder in the order of their names.
std::string file_name() {
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0 || host[0] == '\0') std::strcpy(host, "localhost");
  const auto seconds = static_cast<int64_t>(wall_time());
  return fmt::format("events.out.tfevents.{:010}.{}.{}", seconds, host, ::getpid());
}

}  // namespace

TensorBoardLog::TensorBoardLog(const std::filesystem::path& folder, int64_t first_step)
    : file_(nullptr, &std::fclose) {
  base::make_folder(folder);
  const std::string name = file_name();
  for (int number = 0; !file_; ++number) {
    path_ = folder / fmt::format("{}.{}", name, number);
    file_.reset(std::fopen(path_.c_str(), "wbx"));
    if (!file_ && errno != EEXIST) fail();
  }
  write_record(event(0).text(3, "brain.Event:2").bytes());
  write_record(event(first_step).message(7, Message().integer(1, 1)).bytes());
}

void TensorBoardLog::add(const json& entry) {
  write_record(event(entry.at("iteration").get<int64_t>()).message(5, summary_of(entry)).bytes());
}

// Length, its checksum, data, their checksum.
void TensorBoardLog::write_record(std::string_view data) {
  const auto bytes_of = [](const auto& number) {
    return std::string(reinterpret_cast<const char*>(&number), sizeof number);
  };
  const std::string length = bytes_of(uint64_t{data.size()});
  std::string record = length + bytes_of(masked_crc(length));
  record.append(data).append(bytes_of(masked_crc(data)));
  if (std::fwrite(record.data(), 1, record.size(), file_.get()) != record.size() ||
      std::fflush(file_.get()) != 0) {
    fail();
  }
}

void TensorBoardLog::fail() const {
  throw Failure(fmt::format("{}: {}", path_.string(), std::strerror(errno)));
}

}  // namespace edelta::train
