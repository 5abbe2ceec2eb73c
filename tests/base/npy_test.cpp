#include "edelta/base/npy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/atomic_file.h"
#include "base/input_file.h"
#include "edelta/base/error.h"
#include "expect_error.h"
#include "temporary_folder.h"

namespace edelta::base {
namespace {

using test::expect_error;
using test::TemporaryFolder;

std::string file_bytes(const std::string& header, const std::string& data, char version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += version;
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    bytes += static_cast<char>(header.size() >> (8 * i));
  }
  return bytes + header + data;
}

std::string header_text(const std::string& descr, const std::string& order,
                        const std::string& shape) {
  return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

// 0, 1, 2, … in the given element type and byte order.
template <class T>
std::string count_up(int count, bool big_endian) {
  std::string bytes;
  for (int i = 0; i < count; ++i) {
    const T value = static_cast<T>(i);
    std::string element(reinterpret_cast<const char*>(&value), sizeof value);
    if (big_endian) std::reverse(element.begin(), element.end());
    bytes += element;
  }
  return bytes;
}

void expect_rejected(const std::string& bytes, const std::string& reason) {
  expect_error<InputError>([&] { parse_npy(bytes, "hostile.npy"); }, "hostile.npy", reason);
}

void expect_header_rejected(const std::string& header, const std::string& reason) {
  expect_rejected(file_bytes(header, "1234"), reason);
}

TEST(Npy, RoundTrips) {
  const TemporaryFolder folder;
  for (const auto type : {torch::kFloat, torch::kDouble}) {
    for (const std::vector<std::int64_t>& shape : std::vector<std::vector<std::int64_t>>{
             {}, {1}, {7}, {0, 4}, {3, 5}, {2, 3, 4}, {1, 2, 1, 2, 1, 2, 1, 2}}) {
      const torch::Tensor tensor = torch::randn(shape, type);
      write_npy(folder / "x.npy", tensor);
      const torch::Tensor read = read_npy(folder / "x.npy");
      EXPECT_EQ(read.scalar_type(), type);
      EXPECT_EQ(read.sizes(), tensor.sizes());
      EXPECT_TRUE(read.equal(tensor));
    }
  }
  const torch::Tensor transposed = torch::randn({3, 5}).t();
  write_npy(folder / "x.npy", transposed);
  EXPECT_TRUE(read_npy(folder / "x.npy").equal(transposed));
  EXPECT_EQ(folder.entries(), 1u);
}

// The bytes that numpy.save writes for numpy.arange(3, dtype='<f4').
TEST(Npy, WritesWhatNumpyWrites) {
  const TemporaryFolder folder;
  write_npy(folder / "x.npy", torch::arange(3, torch::kFloat));
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
  header.append(128 - 10 - 1 - header.size(), ' ').append("\n");
  const std::string expected = file_bytes(header, count_up<float>(3, false));
  EXPECT_EQ(base::read_text(folder / "x.npy", 1000), expected);
  EXPECT_EQ(format_npy(torch::arange(3, torch::kFloat)), expected);
}

TEST(Npy, ReadsEveryVersionAndByteOrder) {
  const torch::Tensor expected = torch::arange(6, torch::kDouble).reshape({2, 3});
  for (const char version : {1, 2, 3}) {
    for (const std::string order : {"<", ">", "=", "|"}) {
      const std::string f4 = file_bytes(header_text("'" + order + "f4'", "False", "(2, 3)"),
                                        count_up<float>(6, order == ">"), version);
      const std::string f8 = file_bytes(header_text("'" + order + "f8'", "False", "(2, 3)"),
                                        count_up<double>(6, order == ">"), version);
      EXPECT_TRUE(parse_npy(f4, "f4").equal(expected.to(torch::kFloat))) << order;
      EXPECT_TRUE(parse_npy(f8, "f8").equal(expected)) << order;
    }
  }
}

TEST(Npy, ReadsFortranOrder) {
  const torch::Tensor read = parse_npy(
      file_bytes(header_text("'<f4'", "True", "(2, 3, 4)"), count_up<float>(24, false)), "file");
  EXPECT_TRUE(read.is_contiguous());
  EXPECT_TRUE(read.equal(torch::arange(24, torch::kFloat).reshape({4, 3, 2}).permute({2, 1, 0})));
}

TEST(Npy, AcceptsOtherSpellingsOfTheHeader) {
  for (const std::string header :
       {"{\"shape\":(1,),\"descr\":\"<f4\",\"fortran_order\":False}",
        "{ 'shape' : ( 1 , ) , 'descr' : '<f4' , 'fortran_order' : False , } \n",
        "{'shape': (), 'descr': '<f4', 'fortran_order': False}",
        "{'shape': (1, 1,), 'descr': '<f4', 'fortran_order': False}"}) {
    EXPECT_EQ(parse_npy(file_bytes(header, "1234"), "file").numel(), 1) << header;
  }
}

TEST(Npy, RefusesToWriteOtherTypes) {
  const TemporaryFolder folder;
  expect_error<InputError>([&] { write_npy(folder / "x.npy", torch::arange(3)); }, "x.npy", "Long");
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(Npy, RejectsTruncatedFiles) {
  const TemporaryFolder folder;
  write_npy(folder / "x.npy", torch::ones({2, 2}));
  const std::string bytes = base::read_text(folder / "x.npy", 1000);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(parse_npy(bytes.substr(0, length), "cut"), InputError) << length;
  }
  base::write_text_atomically(folder / "cut.npy", bytes.substr(0, bytes.size() - 1));
  expect_error<InputError>([&] { read_npy(folder / "cut.npy"); }, "cut.npy",
                           "needs 16 bytes of data, there are 15");
  expect_error<InputError>([&] { read_npy(folder / "none.npy"); }, "none.npy", "No such file");
}

TEST(Npy, RejectsDataThatGoesOn) {
  expect_rejected(file_bytes(header_text("'<f4'", "False", "(1,)"), "12345"),
                  "needs 4 bytes of data, there are 5");
}

TEST(Npy, RejectsMagicAndVersion) {
  expect_rejected("PK\3\4 a zip archive", "does not start with");
  const std::string good = header_text("'<f4'", "False", "(1,)");
  expect_rejected(file_bytes(good, "1234", 0), "version 0.0");
  expect_rejected(file_bytes(good, "1234", 4), "version 4.0");
  std::string minor = file_bytes(good, "1234");
  minor[7] = 1;
  expect_rejected(minor, "version 1.1");
}

TEST(Npy, RejectsHeaderLengths) {
  std::string bytes = file_bytes(header_text("'<f4'", "False", "(1,)"), "1234");
  bytes[9] = 1;
  expect_rejected(bytes, "exceeds the file");
  expect_rejected(file_bytes(std::string(100'000, ' '), "", 2), "exceeds any that is needed");
  expect_rejected(file_bytes("", "1234"), "needs a {");
}

TEST(Npy, RejectsKeys) {
  expect_header_rejected("{}", "has no descr");
  expect_header_rejected("{'descr': '<f4', 'shape': (1,)}", "has no fortran_order");
  expect_header_rejected("{'descr': '<f4', 'fortran_order': False}", "has no shape");
  expect_header_rejected("{'descr': '<f4', 'descr': '<f4'}", "\"descr\" occurs twice");
  expect_header_rejected("{'stride': 1}", "unknown key \"stride\"");
  expect_header_rejected("{descr: '<f4'}", "a key in quotes");
}

TEST(Npy, RejectsBrokenLiterals) {
  expect_header_rejected("{'descr': '<f4", "no end");
  expect_header_rejected("{'descr' '<f4'}", "needs a :");
  expect_header_rejected("{'descr': '<f4' 'shape': (1,)}", "needs a }");
  expect_header_rejected("{,}", "a key in quotes");
  expect_header_rejected(header_text("'<f4'", "False", "(1,)") + "{}", "goes on after");
  expect_header_rejected("__import__('os')", "needs a {");
}

TEST(Npy, RejectsDtypes) {
  for (const std::string descr :
       {"|O", "<i8", "<f2", "<f16", "<c8", "|S4", "f4", "", "<", "<f4 "}) {
    expect_header_rejected(header_text("'" + descr + "'", "False", "(1,)"),
                           "its dtype \"" + descr + "\" is neither float32");
  }
  expect_header_rejected(header_text("[('a', '<f4')]", "False", "(1,)"), "the dtype in quotes");
}

TEST(Npy, RejectsOrders) {
  expect_header_rejected(header_text("'<f4'", "0", "(1,)"), "neither True nor False");
  expect_header_rejected(header_text("'<f4'", "Falsey", "(1,)"), "needs a }");
}

TEST(Npy, RejectsShapes) {
  const auto expect_shape_rejected = [](const std::string& shape, const std::string& reason) {
    expect_header_rejected(header_text("'<f4'", "False", shape), reason);
  };
  expect_shape_rejected("1", "needs a (");
  expect_shape_rejected("(1)", "needs a comma");
  expect_shape_rejected("(-1,)", "no whole number");
  expect_shape_rejected("(1.0,)", "needs a ,");
  expect_shape_rejected("(01,)", "no whole number");
  expect_shape_rejected("(1L,)", "needs a ,");
  expect_shape_rejected("(,)", "no whole number");
  expect_shape_rejected("(1,,1)", "no whole number");
  expect_shape_rejected("(None,)", "no whole number");
  expect_shape_rejected("(99999999999999999999,)", "too large");
  expect_shape_rejected("(9223372036854775807,)", "overflows");
  expect_shape_rejected("(0, 4294967296, 4294967296)", "overflows");
  expect_shape_rejected("(1099511627776,)", "needs 4398046511104 bytes");
  expect_shape_rejected("(1, 1, 1, 1, 1, 1, 1, 1, 1)", "more than 8 dimensions");
}

}  // namespace
}  // namespace edelta::base
