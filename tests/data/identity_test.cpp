#include "edelta/data/identity.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "edelta/base/error.h"
#include "edelta/data/dataset.h"
#include "expect_error.h"
#include "temporary_folder.h"

namespace edelta::data {
namespace {

using test::expect_error;

TEST(Identity, KnowsItsDataWhereverItIs) {
  const test::TemporaryFolder folder;
  TaskOptions task = default_task_options("stability");
  task.dim = task.steps = 3;
  task.train = task.val = 2;
  write_dataset(folder / "a", generate(task), task);
  const Identity identity = identify(folder / "a");
  EXPECT_EQ(identity.size(), 5u);
  EXPECT_EQ(identity_from_json(identity_to_json(identity), "test"), identity);
  std::filesystem::rename(folder / "a", folder / "b");
  require_identity(folder / "b", identity);
  expect_error<InputError>([&] { require_identity(folder / "a", identity); }, "not there",
                           "--data");

  task.seed = 7;
  write_dataset(folder / "c", generate(task), task);
  expect_error<InputError>([&] { require_identity(folder / "c", identity); }, "not what", "--data");
  std::ofstream(folder / "b/val_y.npy", std::ios::app) << "x";
  expect_error<InputError>([&] { require_identity(folder / "b", identity); }, "val_y.npy");
  std::filesystem::remove(folder / "b/val_y.npy");
  expect_error<InputError>([&] { require_identity(folder / "b", identity); }, "val_y.npy",
                           "not there");
}

TEST(Identity, RefusesWhatIsNone) {
  EXPECT_THROW(identity_from_json(3, "test"), InputError);
  EXPECT_THROW(identity_from_json({{"x.npy", {{"bytes", -1}, {"checksum", ""}}}}, "test"),
               InputError);
}

}  // namespace
}  // namespace edelta::data
