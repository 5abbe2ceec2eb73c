#include "base/integer_npy.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/input_file.h"
#include "edelta/base/error.h"
#include "expect_error.h"
#include "temporary_folder.h"

namespace edelta::base {
namespace {

using test::expect_error;
using test::TemporaryFolder;

std::string integer_file(const std::string& descr, const std::string& shape,
                         const std::string& data, const std::string& order = "False") {
  const std::string header =
      "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
  std::string bytes("\x93NUMPY\1\0", 8);
  bytes += static_cast<char>(header.size());
  return bytes + '\0' + header + data;
}

std::vector<std::int64_t> all_numbers(const std::string& bytes, std::size_t count) {
  std::vector<std::int64_t> numbers(count);
  IntegerNpyView(bytes, "file.npy").read(0, numbers);
  return numbers;
}

TEST(IntegerNpy, ReadsEverySizeSignAndByteOrder) {
  using Numbers = std::vector<std::int64_t>;
  const std::string bytes("\xff\1\0\0\0\0\0\x80", 8);
  EXPECT_EQ(all_numbers(integer_file("|u1", "(2,)", bytes.substr(0, 2)), 2), (Numbers{255, 1}));
  EXPECT_EQ(all_numbers(integer_file("|i1", "(2,)", bytes.substr(0, 2)), 2), (Numbers{-1, 1}));
  EXPECT_EQ(all_numbers(integer_file("<u2", "(1,)", bytes.substr(0, 2)), 1), (Numbers{0x1ff}));
  EXPECT_EQ(all_numbers(integer_file(">i2", "(1,)", bytes.substr(0, 2)), 1), (Numbers{-255}));
  EXPECT_EQ(all_numbers(integer_file("<u4", "(1, 1)", bytes.substr(4)), 1), (Numbers{0x80000000}));
  EXPECT_EQ(all_numbers(integer_file("<i4", "(2,)", bytes), 2), (Numbers{0x1ff, -0x80000000LL}));
  EXPECT_EQ(all_numbers(integer_file(">i8", "(1,)", bytes), 1),
            (Numbers{static_cast<std::int64_t>(0xff01000000000080u)}));
}

TEST(IntegerNpy, RejectsWhatDoesNotFit) {
  const auto refuse = [](const std::string& bytes, const std::string& reason) {
    expect_error<InputError>([&] { IntegerNpyView(bytes, "hostile.npy"); }, "hostile.npy", reason);
  };
  refuse(integer_file("<f4", "(1,)", "1234"), "no whole number");
  refuse(integer_file("<i3", "(1,)", "123"), "no whole number");
  refuse(integer_file("|b1", "(1,)", "1"), "no whole number");
  refuse(integer_file("|u1", "(2,)", "1"), "needs 2 bytes of data, there are 1");
  refuse(integer_file("|u1", "(2,)", "123"), "needs 2 bytes of data, there are 3");
  refuse(integer_file("<i8", "(9223372036854775807, 2)", "1"), "overflows");
  refuse(integer_file("|u1", "(2, 2)", "1234", "True"), "Fortran order");
  refuse("\x93NUMPY", "shorter than 8 bytes");
  refuse("", "shorter than 8 bytes");
}

TEST(IntegerNpy, WritesWhatItReads) {
  const TemporaryFolder folder;
  ByteRowsWriter writer(folder / "rows.npy", 2, 3);
  writer.add(std::vector<std::uint8_t>{1, 2, 3});
  EXPECT_THROW(writer.add(std::vector<std::uint8_t>{1, 2}), std::logic_error);
  EXPECT_THROW(writer.commit(), std::logic_error);
  writer.add(std::vector<std::uint8_t>{4, 5, 255});
  EXPECT_THROW(writer.add(std::vector<std::uint8_t>{1, 2, 3}), std::logic_error);
  writer.commit();
  const IntegerNpy rows(folder / "rows.npy");
  EXPECT_EQ(rows.shape(), (std::vector<std::int64_t>{2, 3}));
  std::vector<std::int64_t> numbers(4);
  rows.read(2, numbers);
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{3, 4, 5, 255}));

  write_int32_npy(folder / "list.npy", {7, -1, 2147483647});
  const IntegerNpy list(folder / "list.npy");
  EXPECT_EQ(list.shape(), (std::vector<std::int64_t>{3}));
  numbers.resize(3);
  list.read(0, numbers);
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{7, -1, 2147483647}));
  // NumPy's own header, padded so that the data begins at a multiple of 64.
  const std::string bytes = read_text(folder / "list.npy", 1000);
  EXPECT_EQ(bytes.size(), 128 + 12u);
  EXPECT_NE(bytes.find("{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }"),
            std::string::npos);
  EXPECT_NE(read_text(folder / "rows.npy", 1000).find("'|u1'"), std::string::npos);
}

TEST(IntegerNpy, NoticesAFileThatShrinks) {
  const TemporaryFolder folder;
  write_int32_npy(folder / "list.npy", {1, 2, 3});
  const IntegerNpy list(folder / "list.npy");
  std::filesystem::resize_file(folder / "list.npy", 100);
  std::vector<std::int64_t> numbers(3);
  expect_error<InputError>([&] { list.read(0, numbers); }, "list.npy", "shortened");
}

}  // namespace
}  // namespace edelta::base
