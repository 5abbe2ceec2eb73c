// ARC-Reflect-Lite: tasks that a mirror image explains, and a control slice (specification 12.5).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/puzzles/arc_tasks.h"

namespace edelta::data {

inline constexpr int kSliceTasks = 20;

// The transforms after which some function of colours maps the input to the output.
std::vector<int> fitting_transforms(const ArcPair& pair);

enum class Slice { reflect, control, other };
std::string slice_name(Slice slice);

// By the shares of training pairs that a reflection, a rotation, the identity fit.
Slice slice_of(double reflect, double rotation, double identity);

// One task: of how many training pairs each kind of transform fits.
struct ReflectRecord {
  std::string task;  // SUBSET/ID
  int reflect = 0, rotation = 0, identity = 0, non_reflect = 0, pairs = 0;
  Slice slice = Slice::other;
};

ReflectRecord reflect_record(const ArcTask& task);

// Which tasks of a slice with more than kSliceTasks candidates are taken: those of the published
// list, or drawn, at least five from `evaluation`.
enum class SliceSample { published, drawn };

// The names of a slice's tasks, in the order of the records. InputError where the published list
// has a task that is no candidate here.
std::vector<std::string> slice_tasks(const std::vector<ReflectRecord>& records, Slice slice,
                                     SliceSample sample, std::uint64_t seed);

}  // namespace edelta::data
