#include "dist/launch.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "edelta/base/error.h"
#include "expect_error.h"

namespace edelta::dist {
namespace {

class LaunchTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", "SLURM_PROCID",
          "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_STEP_ID", "SLURM_STEP_NODELIST", "SLURM_JOB_ID",
          "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
          "OMPI_COMM_WORLD_LOCAL_SIZE", "TORCHELASTIC_USE_AGENT_STORE",
          "TORCHELASTIC_RESTART_COUNT"}) {
      ::unsetenv(name);
      names_.push_back(name);
    }
  }
  void TearDown() override {
    for (const char* name : names_) ::unsetenv(name);
  }
  static void set(const char* name, const char* value) { ::setenv(name, value, 1); }

 private:
  std::vector<const char*> names_;
};

TEST_F(LaunchTest, OneProcessIsNoLaunch) {
  EXPECT_FALSE(launch_from_environment());
  set("RANK", "3");  // of something else
  EXPECT_FALSE(launch_from_environment());
  set("RANK", "0");
  set("WORLD_SIZE", "1");
  EXPECT_FALSE(launch_from_environment());
  test::expect_error<InputError>([&] { launch_from_environment("folder"); }, "--store");
}

TEST_F(LaunchTest, ReadsTorchrun) {
  set("RANK", "2");
  set("WORLD_SIZE", "4");
  test::expect_error<InputError>([&] { launch_from_environment(); }, "MASTER_ADDR");
  set("MASTER_ADDR", "10.0.0.1");
  test::expect_error<InputError>([&] { launch_from_environment(); }, "MASTER_PORT");
  set("MASTER_PORT", "29501");
  const Launch launch = *launch_from_environment();
  EXPECT_EQ(launch.rank, 2);
  EXPECT_EQ(launch.count, 4);
  EXPECT_EQ(launch.address, "10.0.0.1");
  EXPECT_EQ(launch.port, 29501);
  EXPECT_FALSE(launch.agent_store);
  set("TORCHELASTIC_USE_AGENT_STORE", "True");
  set("TORCHELASTIC_RESTART_COUNT", "3");
  EXPECT_TRUE(launch_from_environment()->agent_store);
  EXPECT_EQ(launch_from_environment()->attempt, "3");
  EXPECT_FALSE(launch_from_environment("shared")->agent_store);
  EXPECT_EQ(launch_from_environment("shared")->folder, "shared");
}

TEST_F(LaunchTest, NamesWhatIsWrong) {
  set("WORLD_SIZE", "2");
  test::expect_error<InputError>([&] { launch_from_environment(); }, "RANK is not");
  set("RANK", "2");
  test::expect_error<InputError>([&] { launch_from_environment(); }, "from 0 to 1");
  set("RANK", "1x");
  test::expect_error<InputError>([&] { launch_from_environment(); }, "1x");
  set("RANK", "1");
  set("WORLD_SIZE", "-2");
  test::expect_error<InputError>([&] { launch_from_environment(); }, "WORLD_SIZE");
  set("WORLD_SIZE", "2");
  set("MASTER_ADDR", "localhost");
  set("MASTER_PORT", "70000");
  test::expect_error<InputError>([&] { launch_from_environment(); }, "MASTER_PORT");
}

TEST_F(LaunchTest, ReadsSlurmsSteps) {
  set("SLURM_PROCID", "0");
  set("SLURM_NTASKS", "2");
  EXPECT_FALSE(launch_from_environment());  // a batch script, not one of its processes
  set("SLURM_STEP_ID", "3");
  set("SLURM_JOB_ID", "1234567");
  set("SLURM_STEP_NODELIST", "node[07-09,12],other");
  const Launch launch = *launch_from_environment();
  EXPECT_EQ(launch.address, "node07");
  EXPECT_GE(launch.port, 20000);
  set("SLURM_STEP_ID", "4");
  EXPECT_NE(launch_from_environment()->port, launch.port);
  set("MASTER_ADDR", "10.0.0.7");
  EXPECT_EQ(launch_from_environment()->address, "10.0.0.7");
}

TEST_F(LaunchTest, FindsTheFirstOfSlurmsHosts) {
  EXPECT_EQ(first_host("n1"), "n1");
  EXPECT_EQ(first_host("n1,n2"), "n1");
  EXPECT_EQ(first_host("n[1-3]"), "n1");
  EXPECT_EQ(first_host("rack-2-n[010,012],m"), "rack-2-n010");
  EXPECT_EQ(first_host("n[5]"), "n5");
}

TEST_F(LaunchTest, ReadsOpenMpi) {
  set("OMPI_COMM_WORLD_RANK", "1");
  set("OMPI_COMM_WORLD_SIZE", "2");
  test::expect_error<InputError>([&] { launch_from_environment(); }, "MASTER_ADDR");
  set("OMPI_COMM_WORLD_LOCAL_SIZE", "2");
  EXPECT_EQ(launch_from_environment()->address, "127.0.0.1");
  EXPECT_EQ(launch_from_environment()->rank, 1);
}

}  // namespace
}  // namespace edelta::dist
