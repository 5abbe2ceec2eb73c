#include "train/tensorboard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/input_file.h"
#include "edelta/base/error.h"
#include "temporary_folder.h"

namespace edelta::train {
namespace {

// A reader that shares nothing with the writer: CRC bit by bit, fields of any kind and order.
struct Bytes {
  std::string_view rest;

  template <class Number>
  Number take() {
    Number number{};
    EXPECT_GE(rest.size(), sizeof number);
    std::memcpy(&number, rest.data(), sizeof number);
    rest.remove_prefix(sizeof number);
    return number;
  }
  std::string_view take(size_t size) {
    EXPECT_GE(rest.size(), size);
    const std::string_view taken = rest.substr(0, size);
    rest.remove_prefix(taken.size());
    return taken;
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = take<uint8_t>();
      value |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80 || rest.empty()) return value;
    }
  }
};

uint32_t slow_crc(std::string_view bytes) {
  uint32_t crc = ~0u;
  for (const char c : bytes) {
    crc ^= static_cast<uint8_t>(c);
    for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ (0x82F63B78u & (0u - (crc & 1)));
  }
  return ~crc;
}

uint32_t masked(std::string_view bytes) {
  const uint32_t crc = slow_crc(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

struct Event {
  double wall_time = 0;
  int64_t step = 0;
  std::string version;
  std::map<std::string, float> scalars;
  int session = 0;
};

// Calls field(number, value) for each; a value is the raw bytes, or a varint's 8.
template <class Field>
void read_fields(std::string_view message, Field field) {
  Bytes in{message};
  while (!in.rest.empty()) {
    const uint64_t key = in.varint();
    uint64_t number = 0;
    std::string value;
    switch (key & 7) {
      case 0:
        number = in.varint();
        value.assign(reinterpret_cast<const char*>(&number), sizeof number);
        break;
      case 1:
        value = in.take(8);
        break;
      case 2:
        value = in.take(in.varint());
        break;
      case 5:
        value = in.take(4);
        break;
      default:
        FAIL() << "a field of kind " << (key & 7);
    }
    field(key >> 3, value);
  }
}

template <class Number>
Number as(const std::string& bytes) {
  Number number{};
  EXPECT_EQ(bytes.size(), sizeof number);
  std::memcpy(&number, bytes.data(), std::min(bytes.size(), sizeof number));
  return number;
}

void read_value(const std::string& message, Event& event) {
  std::string tag;
  float scalar = NAN;
  read_fields(message, [&](uint64_t number, const std::string& value) {
    if (number == 1) tag = value;
    if (number == 2) scalar = as<float>(value);
  });
  event.scalars[tag] = scalar;
}

Event read_event(std::string_view message) {
  Event event;
  read_fields(message, [&](uint64_t number, const std::string& value) {
    if (number == 1) event.wall_time = as<double>(value);
    if (number == 2) event.step = as<int64_t>(value);
    if (number == 3) event.version = value;
    if (number == 5) {
      read_fields(value, [&](uint64_t, const std::string& each) { read_value(each, event); });
    }
    if (number == 7) {
      read_fields(value, [&](uint64_t, const std::string& each) {
        event.session = static_cast<int>(as<int64_t>(each));
      });
    }
  });
  return event;
}

std::vector<Event> read_events(const std::filesystem::path& file) {
  const std::string content = base::read_text(file, 1 << 20);
  std::vector<Event> events;
  for (Bytes in{content}; !in.rest.empty();) {
    const std::string_view length = in.take(8);
    EXPECT_EQ(in.take<uint32_t>(), masked(length));
    const std::string_view data = in.take(Bytes{length}.take<uint64_t>());
    EXPECT_EQ(in.take<uint32_t>(), masked(data));
    events.push_back(read_event(data));
  }
  return events;
}

TEST(TensorBoardLog, WritesWhatAReaderFinds) {
  const test::TemporaryFolder folder;
  TensorBoardLog log(folder / "events", 0);
  log.add({{"iteration", 10},
           {"lr", 0.001},
           {"train_loss", 0.5},
           {"gate_loss", 0.25},
           {"gradient_norm", 2.0},
           {"parameter_norm", 3.0},
           {"gamma", {0.5, 0.75}},
           {"tokens_per_second", 1e4},
           {"sum", "abc"}});
  log.add({{"iteration", 1000000}, {"val_loss", 0.125}, {"strata", {{"slow", 1.5}}}});
  log.add({{"iteration", 1000001}, {"val_loss", nullptr}});

  EXPECT_TRUE(log.file().filename().string().starts_with("events.out.tfevents."));
  const std::vector<Event> events = read_events(log.file());
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  EXPECT_GT(events[0].wall_time, 1.6e9);
  EXPECT_EQ(events[2].step, 10);
  EXPECT_EQ(events[2].scalars, (std::map<std::string, float>{{"loss/train", 0.5f},
                                                             {"loss/gate", 0.25f},
                                                             {"optimiser/learning_rate", 0.001f},
                                                             {"optimiser/gradient_norm", 2.0f},
                                                             {"optimiser/parameter_norm", 3.0f},
                                                             {"speed/tokens_per_second", 1e4f},
                                                             {"gamma/0", 0.5f},
                                                             {"gamma/1", 0.75f}}));
  EXPECT_EQ(events[3].step, 1000000);
  EXPECT_EQ(events[3].scalars, (std::map<std::string, float>{{"loss/validation", 0.125f},
                                                             {"loss/validation/slow", 1.5f}}));
  EXPECT_TRUE(events[4].scalars.empty());
}

TEST(TensorBoardLog, TellsReadersWhereARunBegins) {
  const test::TemporaryFolder folder;
  const TensorBoardLog first(folder.path(), 0), second(folder.path(), 301);
  EXPECT_NE(first.file(), second.file());
  for (const auto& [log, step] : {std::pair(&first, 0), std::pair(&second, 301)}) {
    const std::vector<Event> events = read_events(log->file());
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[1].step, step);
    EXPECT_EQ(events[1].session, 1);  // START
  }
}

TEST(TensorBoardLog, FailsWhereItCannotWrite) {
  const test::TemporaryFolder folder;
  std::filesystem::create_symlink("/nowhere/at/all", folder / "gone");
  EXPECT_THROW(TensorBoardLog(folder / "gone", 0), InputError);
}

}  // namespace
}  // namespace edelta::train
