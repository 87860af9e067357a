#pragma once
// The processor cores available to this process. Threads wait for each other by spinning, so one thread more than there
// are cores makes all of them wait for the scheduler's time slices: hundreds of times slower.
//
// Thread safety: any thread may call these functions.
#include <optional>
#include <string>

namespace kvasir {

// Logical cores that this process may run on, limited by its cgroup's quota; at least 1.
int available_cores();
// `wanted` threads, or for 0 one per physical core if known; never more than available_cores().
int usable_threads(int wanted);

// CPU quota of a process in cores, by Linux's cgroups (v2's cpu.max, v1's cpu.cfs_quota_us): the minimum over its group
// and the group's ancestors. `self` is the content of /proc/self/cgroup, `mounts` the cgroup file system
// (/sys/fs/cgroup).
std::optional<double> cgroup_cores(const std::string & self, const std::string & mounts);

}  // namespace kvasir
