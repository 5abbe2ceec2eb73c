#include "edelta/dist/ranks.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include "dist/rank_threads.h"
#include "dist/together.h"
#include "expect_error.h"
#include "temporary_folder.h"

namespace edelta::dist {
namespace {

using test::on_ranks;
using torch::Tensor;

TEST(Ranks, AddUp) {
  on_ranks(3, [](Ranks& ranks) {
    const Tensor numbers = torch::arange(5, torch::kFloat32) + static_cast<double>(ranks.rank());
    ranks.sum(numbers);
    EXPECT_TRUE(torch::equal(numbers, 3 * torch::arange(5, torch::kFloat32) + 3));
    const Tensor whole = torch::full({2}, ranks.rank(), torch::kInt64);
    ranks.sum(whole);
    EXPECT_EQ(whole[1].item<int64_t>(), 3);
  });
}

TEST(Ranks, HaveTheFirstOnesTensor) {
  on_ranks(2, [](Ranks& ranks) {
    const Tensor numbers = torch::full({7}, 1.5 + static_cast<double>(ranks.rank()));
    ranks.broadcast(numbers);
    EXPECT_TRUE(torch::equal(numbers, torch::full({7}, 1.5)));
  });
}

// Numbers whose sum depends on the order.
Tensor awkward(int64_t index, int64_t size) {
  at::Generator generator = at::detail::createCPUGenerator(static_cast<uint64_t>(index) + 1);
  return torch::randn({size}, generator) * std::pow(10.0, static_cast<double>(index % 5));
}

TEST(Ranks, AddUpInATree) {
  for (const int64_t size : {1, 7, 1000}) {
    const auto of = [&](int64_t index) { return awkward(index, size); };
    const Tensor expected = (of(0) + of(1)) + (of(2) + of(3));
    on_ranks(4, [&](Ranks& ranks) {
      const Tensor numbers = of(ranks.rank());
      ranks.tree_sum(numbers);
      EXPECT_TRUE(torch::equal(numbers, expected));
    });
  }
}

TEST(Ranks, TellEachOtherTexts) {
  on_ranks(3, [](Ranks& ranks) {
    const std::string own(static_cast<size_t>(2 * ranks.rank()), 'a');
    const std::vector<std::string> expected{"", "aa", "aaaa"};
    EXPECT_EQ(gather_texts(ranks, own), expected);
    EXPECT_EQ(first_text(ranks, ranks.first() ? "first" : "other"), "first");
    EXPECT_EQ(largest(ranks, 10 - ranks.rank()), 10);
  });
  EXPECT_EQ(gather_texts(alone(), "me"), std::vector<std::string>{"me"});
}

template <class Error>
void expect_to_fail_together(Ranks& ranks) {
  const auto fails = [&] {
    if (ranks.rank() == 1) throw Error("no such thing");
    return 1;
  };
  if (ranks.rank() == 1) {
    test::expect_error<Error>([&] { together(ranks, fails); }, "no such thing");
  } else {
    test::expect_error<Error>([&] { together(ranks, fails); }, "rank 1 on ", ": no such thing");
  }
}

TEST(Ranks, FailTogether) {
  on_ranks(2, [](Ranks& ranks) {
    expect_to_fail_together<Failure>(ranks);
    expect_to_fail_together<InputError>(ranks);
    EXPECT_EQ(together(ranks, [] { return 3; }), 3);
  });
}

TEST(Ranks, NameTheOneThatEnds) {
  std::mutex mutex;
  std::vector<std::string> said;
  const auto body = [&](Ranks& ranks) {
    if (ranks.rank() == 2) throw Failure("its disk is full");
    try {
      ranks.sum(torch::ones({3}));
      ADD_FAILURE() << "a sum without one of the ranks";
    } catch (const Failure& failure) {
      const std::lock_guard lock(mutex);
      said.emplace_back(failure.what());
    }
  };
  test::expect_error<Failure>([&] { on_ranks(3, body, std::chrono::seconds(10)); }, "disk is full");
  ASSERT_EQ(said.size(), 2);
  for (const std::string& text : said) {
    EXPECT_NE(text.find("rank 2 on "), std::string::npos) << text;
    EXPECT_NE(text.find("its disk is full"), std::string::npos) << text;
  }
}

TEST(Ranks, NameTheOneThatDoesNotCome) {
  const auto body = [&](Ranks& ranks) {
    if (ranks.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2500));
      test::expect_error<Failure>([&] { ranks.sum(torch::ones({3})); }, "rank 1 on ");
    } else {
      test::expect_error<Failure>([&] { ranks.sum(torch::ones({3})); }, "rank 1 on ",
                                  "did not come within 1 s");
    }
  };
  on_ranks(2, body, std::chrono::seconds(1));
}

Launch launch_in(const std::filesystem::path& folder, int64_t rank, int64_t count) {
  Launch launch;
  launch.rank = rank;
  launch.count = count;
  launch.folder = folder.string();
  return launch;
}

// Two ranks that meet in the folder, the second as much ahead of the first.
void meet_in(const std::filesystem::path& folder, std::chrono::milliseconds ahead,
             const std::function<void()>& while_together = {}) {
  ::setenv("EDELTA_SECRET", "a secret of the tests", 1);
  std::vector<std::thread> threads;
  for (const int64_t rank : {1, 0}) {
    threads.emplace_back([&, rank] {
      const auto ranks = join(launch_in(folder, rank, 2), std::chrono::seconds(30));
      if (rank == 0 && while_together) while_together();
      EXPECT_EQ(largest(*ranks, rank), 1);
    });
    std::this_thread::sleep_for(ahead);
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Ranks, MeetInAFolder) {
  const test::TemporaryFolder work;
  const auto folder = work / "store", crashed = work / "crashed";
  const auto ahead = std::chrono::milliseconds(300);
  meet_in(folder, ahead, [&] { std::filesystem::copy(folder, crashed); });
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  // What is left of a run that was killed: the one that comes first must not take it for its own.
  EXPECT_FALSE(std::filesystem::is_empty(crashed));
  meet_in(crashed, ahead);
  EXPECT_TRUE(std::filesystem::is_empty(crashed));
}

TEST(Ranks, TellAllWhoHasNotCome) {
  const test::TemporaryFolder folder;
  ::setenv("EDELTA_SECRET", "a secret of the tests", 1);
  std::vector<std::thread> threads;
  for (const int64_t rank : {0, 1}) {
    threads.emplace_back([&, rank] {
      const Launch launch = launch_in(folder / "store", rank, 3);
      test::expect_error<Failure>([&] { join(launch, std::chrono::seconds(1 + rank)); },
                                  "rank 2 of 3 has not come within 1 s");
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace edelta::dist
