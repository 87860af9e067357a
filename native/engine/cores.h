#pragma once
// The processor cores that are free to this process. Threads wait for each other by spinning, so that one more than
// there are cores for makes everything wait for the system's time slices: hundreds of times slower.
//
// Thread safety: any thread may call these functions.
#include <optional>
#include <string>

namespace kvasir {

// Logical cores that this process may run on, and its group has time for; at least 1.
int available_cores();
// `wanted`, 0: one per physical core where the system tells; never more than available_cores().
int usable_threads(int wanted);

// How many cores' time the groups of a process get by Linux's cgroups (v2's cpu.max, v1's cpu.cfs_quota_us): the
// least of
// a group and those above it. `self` is what /proc/self/cgroup says, `mounts` where the groups lie (/sys/fs/cgroup).
std::optional<double> cgroup_cores(const std::string & self, const std::string & mounts);

}  // namespace kvasir
