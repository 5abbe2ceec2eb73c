#include "edelta/base/safetensors.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "base/atomic_file.h"
#include "base/input_file.h"
#include "edelta/base/error.h"
#include "expect_error.h"
#include "golden.h"
#include "temporary_folder.h"

namespace edelta::base {
namespace {

using test::expect_error;
using test::TemporaryFolder;

std::string file_bytes(const std::string& header, const std::string& data = "") {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data;
}

void expect_rejected(const std::string& bytes, const std::string& reason) {
  expect_error<InputError>([&] { parse_safetensors(bytes, "hostile.safetensors"); },
                           "hostile.safetensors", reason);
}

// A header of one tensor `w`, and four bytes of data.
void expect_entry_rejected(const std::string& entry, const std::string& reason) {
  expect_rejected(file_bytes("{\"w\":" + entry + "}", "1234"), reason);
}

TEST(Safetensors, RoundTripsEveryDtype) {
  const TemporaryFolder folder;
  TensorMap tensors;
  for (const auto type : {torch::kHalf, torch::kBFloat16, torch::kFloat, torch::kDouble,
                          torch::kChar, torch::kByte, torch::kShort, torch::kInt, torch::kLong}) {
    tensors[c10::toString(type)] = torch::arange(15).reshape({3, 5}).to(type);
  }
  tensors["bool"] = torch::tensor({true, false, true});
  tensors["scalar"] = torch::tensor(2.5);
  tensors["empty"] = torch::zeros({0, 4});
  tensors["transposed"] = torch::arange(6).reshape({2, 3}).t();
  tensors["extreme"] = torch::tensor({std::numeric_limits<std::int64_t>::min()});
  tensors["parameter \"ä\"\n"] = torch::ones({2}, torch::requires_grad());
  const Metadata metadata{{"format", "edelta"}, {"text", "two\nlines"}};
  write_safetensors(folder / "all", tensors, metadata);
  const TensorFile file = read_safetensors(folder / "all");
  EXPECT_EQ(file.metadata, metadata);
  EXPECT_TRUE(file.checked);
  ASSERT_EQ(file.tensors.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    const torch::Tensor& read = file.tensor(name);
    EXPECT_EQ(read.scalar_type(), tensor.scalar_type()) << name;
    EXPECT_EQ(read.sizes(), tensor.sizes()) << name;
    EXPECT_TRUE(read.equal(tensor)) << name;
  }
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(Safetensors, KeepsNonFiniteValuesBitForBit) {
  const TemporaryFolder folder;
  const torch::Tensor values =
      torch::tensor({std::nanf(""), std::numeric_limits<float>::infinity(), -0.0f});
  write_safetensors(folder / "file", {{"x", values}});
  const torch::Tensor read = read_safetensors(folder / "file").tensor("x");
  EXPECT_EQ(std::memcmp(read.data_ptr(), values.data_ptr(), values.nbytes()), 0);
}

TEST(Safetensors, AlignsTheDataAndEveryTensor) {
  const TemporaryFolder folder;
  write_safetensors(folder / "file", {{"a", torch::ones({3}, torch::kByte)},
                                      {"b", torch::ones({1}, torch::kDouble)},
                                      {"c", torch::ones({1}, torch::kFloat)}});
  const std::string bytes = read_text(folder / "file", 10000);
  EXPECT_EQ((bytes.size() - 3 - 8 - 4) % 8, 0u);
  EXPECT_NE(bytes.find("\"b\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]}"),
            std::string::npos);
  EXPECT_NE(bytes.find("\"c\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,12]}"),
            std::string::npos);
}

TEST(Safetensors, NoticesAChangedByte) {
  const TemporaryFolder folder;
  write_safetensors(folder / "file", {{"w", torch::ones({4})}}, {{"text", "a"}});
  const std::string bytes = read_text(folder / "file", 10000);
  for (std::size_t at = 8; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] ^= 1;
    try {
      const TensorFile file = parse_safetensors(changed, "changed");
      EXPECT_FALSE(file.checked && !(file.tensor("w").equal(torch::ones({4})))) << at;
    } catch (const InputError&) {
    }
  }
  std::string changed = bytes;
  changed[bytes.size() - 2] ^= 1;
  expect_error<InputError>([&] { parse_safetensors(changed, "changed"); }, "checksum");
}

TEST(Safetensors, AcceptsAFileWithoutTensors) {
  EXPECT_TRUE(parse_safetensors(file_bytes("{}"), "empty").tensors.empty());
  EXPECT_TRUE(parse_safetensors(file_bytes("{}      "), "padded").tensors.empty());
}

TEST(Safetensors, AcceptsDataInAnotherOrderThanTheHeader) {
  const TensorFile file =
      parse_safetensors(file_bytes("{\"a\":{\"data_offsets\":[1,2],\"shape\":[],\"dtype\":\"U8\"},"
                                   "\"b\":{\"data_offsets\":[0,1],\"shape\":[1],\"dtype\":\"U8\"}}",
                                   "12"),
                        "file");
  EXPECT_EQ(file.tensor("a").item<int>(), '2');
  EXPECT_EQ(file.tensor("b").item<int>(), '1');
}

TEST(Safetensors, NamesAMissingTensor) {
  const TensorFile file = parse_safetensors(file_bytes("{}"), "empty");
  expect_error<InputError>([&] { file.tensor("w"); }, "empty", "\"w\"");
  expect_error<InputError>([&] { file.metadata_at("config"); }, "empty", "\"config\"");
}

TEST(Safetensors, RefusesToWriteWhatTheFormatLacks) {
  const TemporaryFolder folder;
  expect_error<InputError>(
      [&] { write_safetensors(folder / "f", {{"z", torch::zeros({1}, torch::kComplexFloat)}}); },
      "\"z\"");
  expect_error<InputError>(
      [&] { write_safetensors(folder / "f", {{"__metadata__", torch::zeros({1})}}); },
      "__metadata__");
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(Safetensors, RejectsTruncatedFiles) {
  expect_rejected("", "shorter than 8 bytes");
  expect_rejected("1234567", "shorter than 8 bytes");
  const TemporaryFolder folder;
  write_safetensors(folder / "file", {{"w", torch::ones({4})}});
  const std::string bytes = read_text(folder / "file", 10000);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(parse_safetensors(bytes.substr(0, length), "cut"), InputError) << length;
  }
  write_text_atomically(folder / "cut", bytes.substr(0, bytes.size() - 1));
  expect_error<InputError>([&] { read_safetensors(folder / "cut"); }, (folder / "cut").string());
  expect_error<InputError>([&] { read_safetensors(folder / "none"); }, "No such file");
}

TEST(Safetensors, RejectsHeaderLengths) {
  std::string bytes = file_bytes("{}");
  bytes[0] = 3;
  expect_rejected(bytes, "exceeds the file");
  bytes.replace(0, 8, 8, '\xff');
  expect_rejected(bytes, "exceeds the limit");
  expect_rejected(file_bytes(""), "does not start with {");
}

TEST(Safetensors, RejectsWhatIsNotJson) {
  expect_rejected(file_bytes("{"), "not valid JSON");
  expect_rejected(file_bytes("{} x"), "not valid JSON");
  expect_rejected(file_bytes("{\"a\xff\":1}"), "not valid JSON in UTF-8");
  expect_rejected(file_bytes("{\"__metadata__\":{\"a\":\"\xc0\x80\"}}"), "not valid JSON in UTF-8");
  expect_rejected(file_bytes(" {}"), "does not start with {");
  expect_rejected(file_bytes("[]"), "does not start with {");
}

TEST(Safetensors, RejectsDeepNesting) {
  std::string objects, arrays = "{\"w\":{\"shape\":";
  for (int i = 0; i < 1'000'000; ++i) objects += "{\"a\":";
  expect_rejected(file_bytes(objects), "cannot be an object");
  expect_rejected(file_bytes(arrays + std::string(1'000'000, '[')), "cannot be an array");
}

TEST(Safetensors, RejectsDuplicates) {
  const std::string entry = "{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}";
  expect_rejected(file_bytes("{\"w\":" + entry + ",\"w\":" + entry + "}", "1234"),
                  "the entry \"w\" occurs twice");
  expect_rejected(file_bytes("{\"__metadata__\":{},\"__metadata__\":{}}"), "occurs twice");
  expect_rejected(file_bytes("{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}"),
                  "the metadata entry \"a\" occurs twice");
  expect_entry_rejected(
      "{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}",
      "\"dtype\" of tensor \"w\" occurs twice");
}

TEST(Safetensors, RejectsEntriesThatAreNoTensor) {
  expect_entry_rejected("1", "cannot be a number");
  expect_entry_rejected("null", "cannot be null");
  expect_entry_rejected("true", "cannot be a truth value");
  expect_entry_rejected("\"F32\"", "cannot be a string");
  expect_entry_rejected("{}", "has no dtype");
  expect_entry_rejected("{\"dtype\":\"F32\",\"data_offsets\":[0,4]}", "has no shape");
  expect_entry_rejected("{\"dtype\":\"F32\",\"shape\":[1]}", "has no data_offsets");
  expect_entry_rejected("{\"stride\":1}", "\"stride\" of tensor \"w\"");
  expect_entry_rejected("{\"dtype\":\"F8_E4M3\",\"shape\":[1],\"data_offsets\":[0,4]}",
                        "unknown dtype \"F8_E4M3\"");
}

TEST(Safetensors, RejectsShapes) {
  const auto expect_shape_rejected = [](const std::string& shape, const std::string& reason) {
    expect_entry_rejected("{\"dtype\":\"F32\",\"shape\":" + shape + ",\"data_offsets\":[0,4]}",
                          reason);
  };
  expect_shape_rejected("1", "cannot be a number");
  expect_shape_rejected("[-1]", "a negative number");
  expect_shape_rejected("[1.0]", "a fractional or too large number");
  expect_shape_rejected("[1e400]", "not valid JSON");
  expect_shape_rejected("[99999999999999999999]", "a fractional or too large number");
  expect_shape_rejected("[18446744073709551615]", "too large");
  expect_shape_rejected("[9223372036854775807]", "overflows");
  expect_shape_rejected("[4294967296,4294967296]", "overflows");
  expect_shape_rejected("[0,9223372036854775807]", "overflows");
  expect_shape_rejected("[1099511627776]", "needs 4398046511104 bytes");
  expect_shape_rejected("[1,1,1,1,1,1,1,1,1]", "more than 8 dimensions");
  expect_shape_rejected("[2]", "needs 8 bytes but its data_offsets span 4");
  expect_shape_rejected("[0]", "needs 0 bytes but its data_offsets span 4");
}

TEST(Safetensors, RejectsOffsets) {
  const auto expect_offsets_rejected = [](const std::string& offsets, const std::string& reason) {
    expect_entry_rejected("{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":" + offsets + "}",
                          reason);
  };
  expect_offsets_rejected("[4,0]", "reversed");
  expect_offsets_rejected("[0]", "not two numbers");
  expect_offsets_rejected("[]", "not two numbers");
  expect_offsets_rejected("[0,4,8]", "more than two offsets");
  expect_offsets_rejected("[-4,0]", "a negative number");
  expect_offsets_rejected("[4,8]", "ends at byte 8 of 4");
  expect_offsets_rejected("[18446744073709551611,18446744073709551615]", "ends at byte");
  expect_offsets_rejected("[0,3]", "span 3");
}

TEST(Safetensors, RejectsOverlapsAndHoles) {
  const auto two = [](const std::string& first, const std::string& second, std::size_t bytes) {
    const std::string begin = "{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":";
    return file_bytes("{\"a\":" + begin + first + "},\"b\":" + begin + second + "}}",
                      std::string(bytes, 'x'));
  };
  EXPECT_NO_THROW(parse_safetensors(two("[0,2]", "[2,4]", 4), "file"));
  expect_rejected(two("[0,2]", "[1,3]", 3), "overlaps");
  expect_rejected(two("[0,2]", "[0,2]", 2), "overlaps");
  expect_rejected(two("[0,2]", "[3,5]", 5), "unused bytes");
  expect_rejected(two("[1,3]", "[3,5]", 5), "unused bytes");
  expect_rejected(two("[0,2]", "[2,4]", 5), "1 bytes of data belong to no tensor");
}

TEST(Safetensors, RejectsMetadataThatIsNotText) {
  expect_rejected(file_bytes("{\"__metadata__\":{\"a\":1}}"), "cannot be a number");
  expect_rejected(file_bytes("{\"__metadata__\":{\"a\":{}}}"), "cannot be an object");
  expect_rejected(file_bytes("{\"__metadata__\":[]}"), "cannot be an array");
}

TEST(Safetensors, RejectsTruthValuesOtherThanZeroAndOne) {
  const std::string header = "{\"w\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[0,2]}}";
  EXPECT_NO_THROW(parse_safetensors(file_bytes(header, std::string("\0\1", 2)), "file"));
  expect_rejected(file_bytes(header, "\1\2"), "other than 0 and 1");
}

TEST(Safetensors, MessagesStayShortAndPrintable) {
  const std::string name(1000, 'n');
  try {
    parse_safetensors(file_bytes("{\"\\u0007\\n" + name + "\":1}"), "file");
    FAIL();
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_LT(message.size(), 250u);
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_EQ(message.find('\a'), std::string::npos);
  }
}

class GoldenFile : public testing::TestWithParam<const char*> {};

// The stored loss is the mean squared error of the stored output, so all three were read right.
TEST_P(GoldenFile, IsReadRight) {
  const auto path = test::golden_file(std::string("forward_") + GetParam() + ".safetensors");
  if (!path) GTEST_SKIP() << "the golden files are absent";
  const TensorFile file = read_safetensors(*path);
  EXPECT_EQ(file.metadata_at("model"), GetParam());
  EXPECT_EQ(file.tensor("x").scalar_type(), torch::kFloat);
  const torch::Tensor error = file.tensor("output") - file.tensor("y").to(torch::kDouble);
  EXPECT_NEAR(error.square().mean().item<double>(), file.tensor("loss").item<double>(), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Safetensors, GoldenFile,
                         testing::Values("gpt2", "ddl", "mhc", "jpmhc", "edelta", "edelta_stream"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace edelta::base
