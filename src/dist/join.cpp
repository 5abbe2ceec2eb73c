#include "dist/join.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>

#include "edelta/torch.h"

// The headers of Gloo's process group hide themselves without it; some of libtorch's packages
// define it.
#ifndef USE_C10D_GLOO
#define USE_C10D_GLOO
#endif
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "dist/meeting.h"
#include "dist/watch.h"
#include "edelta/base/error.h"

namespace edelta::dist {
namespace {

using std::chrono::milliseconds;
using torch::Tensor;
using Group = c10d::ProcessGroupGloo;
using Clock = std::chrono::steady_clock;

// How often a rank that waits looks whether there is anything left to wait for.
constexpr auto kGlance = milliseconds(200);

std::shared_ptr<::gloo::transport::Device> device(const std::string& own_address) {
  // As PyTorch has it.
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME")) {
    return Group::createDeviceForInterface(interface);
  }
  return own_address.empty() ? Group::createDefaultDevice()
                             : Group::createDeviceForHostname(own_address);
}

// Connecting ends with the limit. Of what follows, Gloo's own limit is the last resort: the watch
// knows who is to blame.
class PatientGroup : public Group {
 public:
  template <class... Arguments>
  explicit PatientGroup(Arguments&&... arguments) : Group(std::forward<Arguments>(arguments)...) {
    for (const auto& context : contexts_) context->setTimeout(3 * context->getTimeout());
  }
};

class GlooRanks : public Ranks {
 public:
  GlooRanks(const Launch& launch, milliseconds limit)
      : rank_(launch.rank), count_(launch.count), meeting_(meet(launch, limit)) {
    for (size_t i = 0; i < meeting_.hosts.size(); ++i) {
      names_.push_back(fmt::format("rank {} on {}", i, meeting_.hosts[i]));
    }
    std::signal(SIGPIPE, SIG_IGN);
    watch_ = std::make_unique<Watch>(meeting_, rank_, names_, limit);
    const auto options = Group::Options::create(limit);
    try {
      options->devices.push_back(device(meeting_.own_address));
      group_ = c10::make_intrusive<PatientGroup>(
          c10::make_intrusive<c10d::PrefixStore>("gloo", meeting_.store), static_cast<int>(rank_),
          static_cast<int>(count_), options);
    } catch (const std::exception& error) {
      watch_->blame(first_line(error.what()));
    }
  }

  ~GlooRanks() override {
    // Gloo would wait for exchanges that never end; its threads end with the process.
    if (broken_ || watch_->over()) group_.release();
  }

  int64_t rank() const override { return rank_; }
  int64_t count() const override { return count_; }
  std::string name_of(int64_t rank) const override { return names_[static_cast<size_t>(rank)]; }
  void leave(const std::string& reason) override {
    broken_ = true;
    watch_->leave(reason);
  }

  std::unique_ptr<Pending> begin_sum(const Tensor& tensor) override {
    std::vector<Tensor> tensors{tensor};
    return std::make_unique<PendingWork>(*this, group_->allreduce(tensors));
  }

  void tree_sum(const Tensor& tensor) override {
    // Every rank adds up a part of it for all.
    const int64_t part = (tensor.numel() + count_ - 1) / count_;
    Tensor mine = torch::zeros({part * count_}, tensor.options());
    mine.narrow(0, 0, tensor.numel()).copy_(tensor.view({-1}));
    Tensor all = torch::empty_like(mine);
    std::vector<int64_t> equal_parts;
    finish(group_->alltoall_base(all, mine, equal_parts, equal_parts));
    const auto of_rank = [&](int64_t rank) { return all.narrow(0, rank * part, part); };
    for (int64_t apart = 1; apart < count_; apart *= 2) {
      for (int64_t rank = 0; rank + apart < count_; rank += 2 * apart) {
        of_rank(rank).add_(of_rank(rank + apart));
      }
    }
    std::vector<Tensor> own{of_rank(0)};
    std::vector<std::vector<Tensor>> gathered{mine.split(part)};
    finish(group_->allgather(gathered, own));
    tensor.view({-1}).copy_(mine.narrow(0, 0, tensor.numel()));
  }

  void broadcast(const Tensor& tensor) override {
    std::vector<Tensor> tensors{tensor};
    finish(group_->broadcast(tensors));
  }

 private:
  using Work = c10::intrusive_ptr<c10d::Work>;

  class PendingWork : public Pending {
   public:
    PendingWork(GlooRanks& ranks, Work work) : ranks_(ranks), work_(std::move(work)) {}
    void wait() override { ranks_.finish(work_); }

   private:
    GlooRanks& ranks_;
    Work work_;
  };

  static std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

  void finish(const Work& work) {
    watch_->came();
    const auto begun = Clock::now();
    while (true) {
      // One that has heard of the end does not go on, even if the others' last words would let it.
      try {
        watch_->check(begun);
      } catch (const Failure&) {
        broken_ = true;
        throw;
      }
      std::string what;
      try {
        work->wait(kGlance);
        return;
      } catch (const c10::Error& error) {
        what = error.what_without_backtrace();
      } catch (const std::exception& error) {
        what = error.what();
      }
      if (!work->isCompleted()) continue;
      if (work->isSuccess()) return;
      broken_ = true;
      watch_->blame(first_line(what));
    }
  }

  int64_t rank_, count_;
  Meeting meeting_;
  std::vector<std::string> names_;
  c10::intrusive_ptr<Group> group_;
  std::unique_ptr<Watch> watch_;  // ends first: it needs the store, and its server
  bool broken_ = false;
};

}  // namespace

std::unique_ptr<Ranks> join(const Launch& launch, milliseconds limit) {
  return std::make_unique<GlooRanks>(launch, limit);
}

}  // namespace edelta::dist
