#include "data/puzzles/reflect_lite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/random.h"
#include "data/puzzles/arc_view.h"
#include "data/puzzles/shuffle.h"
#include "edelta/base/error.h"

namespace edelta::data {
namespace {

// As published, from the files of ARC-AGI-1 and ConceptARC.
constexpr std::array<const char*, kSliceTasks> kPublishedReflect{
    "concept/CleanUp2",        "concept/CleanUp4",    "concept/HorizontalVertical8",
    "concept/MoveToBoundary6", "concept/Order1",      "concept/TopBottom2D10",
    "concept/TopBottom3D2",    "evaluation/2a5f8217", "training/0d3d703e",
    "training/25d8a9c8",       "training/5168d44c",   "training/5582e5ca",
    "training/67a3c6ac",       "training/68b16354",   "training/74dd1130",
    "training/85c4e7cd",       "training/9565186b",   "training/9dfd6313",
    "training/bda2d7a6",       "training/d23f8c26"};

constexpr std::array<const char*, kSliceTasks> kPublishedControl{
    "concept/AboveBelow2",         "concept/FilledNotFilled4", "concept/FilledNotFilled9",
    "concept/HorizontalVertical9", "concept/SameDifferent2",   "concept/SameDifferent6",
    "concept/SameDifferent7",      "concept/TopBottom2D8",     "evaluation/009d5c81",
    "evaluation/45737921",         "evaluation/604001fa",      "evaluation/7d1f7ee8",
    "evaluation/90347967",         "evaluation/d2acf2cb",      "evaluation/d931c21c",
    "training/3c9b0459",           "training/63613498",        "training/b1948b0a",
    "training/c8f0f002",           "training/d90796e8"};

constexpr const char* kEvaluation = "evaluation/";
constexpr std::size_t kLeastOfEvaluation = 5;

bool maps_colours(const Grid& from, const Grid& to) {
  if (from.rows != to.rows || from.columns != to.columns) return false;
  std::array<int, kColours> image;
  image.fill(-1);
  for (std::size_t i = 0; i < from.cells.size(); ++i) {
    int& colour = image[from.cells[i]];
    if (colour >= 0 && colour != to.cells[i]) return false;
    colour = to.cells[i];
  }
  return true;
}

// In the order of the candidates.
std::vector<std::string> drawn_tasks(const std::vector<std::string>& candidates,
                                     base::RandomStream random) {
  std::vector<std::string> order = candidates, taken;
  shuffle(order, random);
  const auto take = [&](const std::string& task) { taken.push_back(task); };
  for (const std::string& task : order) {
    if (taken.size() < kLeastOfEvaluation && task.starts_with(kEvaluation)) take(task);
  }
  for (const std::string& task : order) {
    const bool is_taken = std::find(taken.begin(), taken.end(), task) != taken.end();
    if (taken.size() < kSliceTasks && !is_taken) take(task);
  }
  std::vector<std::string> tasks;
  for (const std::string& task : candidates) {
    if (std::find(taken.begin(), taken.end(), task) != taken.end()) tasks.push_back(task);
  }
  return tasks;
}

std::vector<std::string> published_tasks(const std::vector<std::string>& candidates, Slice slice) {
  const auto& list = slice == Slice::reflect ? kPublishedReflect : kPublishedControl;
  for (const char* task : list) {
    if (std::find(candidates.begin(), candidates.end(), task) == candidates.end()) {
      throw InputError(
          fmt::format("the published {} slice has {}, which is no such task here; --sample drawn "
                      "draws from those that are",
                      slice_name(slice), task));
    }
  }
  std::vector<std::string> tasks;
  for (const std::string& task : candidates) {
    if (std::find(list.begin(), list.end(), task) != list.end()) tasks.push_back(task);
  }
  return tasks;
}

}  // namespace

std::vector<int> fitting_transforms(const ArcPair& pair) {
  std::vector<int> fitting;
  for (int transform = 0; transform < kTransforms; ++transform) {
    if (maps_colours(transformed(pair.input, transform), pair.output)) fitting.push_back(transform);
  }
  return fitting;
}

std::string slice_name(Slice slice) {
  return slice == Slice::reflect ? "reflect" : slice == Slice::control ? "control" : "other";
}

Slice slice_of(double reflect, double rotation, double identity) {
  const double others = std::max(rotation, identity);
  if (reflect >= 0.3 && reflect >= others) return Slice::reflect;
  if (others >= 0.2 && reflect <= 0.2 && others >= reflect) return Slice::control;
  return Slice::other;
}

ReflectRecord reflect_record(const ArcTask& task) {
  ReflectRecord record{.task = task.subset + "/" + task.id,
                       .pairs = static_cast<int>(task.train.size())};
  for (const ArcPair& pair : task.train) {
    const std::vector<int> fitting = fitting_transforms(pair);
    const auto any = [&](int first, int last) {
      return std::any_of(fitting.begin(), fitting.end(),
                         [&](int each) { return each >= first && each <= last; });
    };
    record.reflect += any(4, 7);
    record.rotation += any(1, 3);
    record.identity += any(0, 0);
    record.non_reflect += any(0, 3);
  }
  const double pairs = record.pairs;
  record.slice = slice_of(record.reflect / pairs, record.rotation / pairs, record.identity / pairs);
  return record;
}

std::vector<std::string> slice_tasks(const std::vector<ReflectRecord>& records, Slice slice,
                                     SliceSample sample, std::uint64_t seed) {
  std::vector<std::string> candidates;
  for (const ReflectRecord& record : records) {
    if (record.slice == slice) candidates.push_back(record.task);
  }
  if (sample == SliceSample::published) return published_tasks(candidates, slice);
  if (candidates.size() <= kSliceTasks) return candidates;
  const std::uint64_t index = slice == Slice::reflect ? 0 : 1;
  return drawn_tasks(candidates, base::RandomStream(seed, base::Stream::puzzle_sample, index));
}

}  // namespace edelta::data
