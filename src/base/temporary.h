// Temporary names beside what is being written.
#pragma once

#include <filesystem>

namespace edelta::base {

// "NAME.PID.N.tmp" in the target's folder. Who makes it holds an flock(2) on it until it is renamed
// or removed.
std::filesystem::path temporary_beside(const std::filesystem::path& target);

// Removes the temporaries of this target that killed processes left behind: their process has ended
// and nobody holds them. What cannot be removed stays.
void remove_stale_temporaries(const std::filesystem::path& target) noexcept;

// The rename of a file or folder is durable only once the folder around it has reached the disk:
// the error's number, or 0.
int sync_folder_of(const std::filesystem::path& path);

}  // namespace edelta::base
