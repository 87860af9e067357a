#include "cores.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace kvasir {

namespace {

// quota / period of one group; "max 100000" and −1 mean no limit.
std::optional<double> share(const std::string & quota, double period) {
    std::istringstream in(quota);
    double value = 0;
    if (!(in >> value) || value <= 0 || period <= 0) return std::nullopt;
    return value / period;
}

std::optional<double> share_of_v2(const std::string & folder) {
    std::ifstream file(folder + "/cpu.max");
    std::string quota;
    double period = 0;
    return file >> quota >> period ? share(quota, period) : std::nullopt;
}

std::optional<double> share_of_v1(const std::string & folder) {
    std::ifstream quota_file(folder + "/cpu.cfs_quota_us"), period_file(folder + "/cpu.cfs_period_us");
    std::string quota;
    double period = 0;
    return quota_file >> quota && period_file >> period ? share(quota, period) : std::nullopt;
}

// The minimum over `group` and its ancestors. In a container the group's folder may be the mount point.
template <typename F>
void limit_by(std::optional<double> & least, const std::string & mount, std::string group, F share_of) {
    for (bool more = true; more; group.resize(group.empty() ? 0 : group.rfind('/'))) {
        more = !group.empty();
        if (const auto s = share_of(mount + group)) least = std::min(least.value_or(*s), *s);
    }
}

#ifdef __linux__
// Empty if the system does not report it.
std::set<int> allowed_cpus() {
    std::set<int> out;
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) return out;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &cpus)) out.insert(cpu);
    return out;
}
#endif

// Hyperthreads of a core share its vector units, so a second one only adds contention.
int physical_cores() {
#ifdef __linux__
    std::set<std::string> cores;
    for (int cpu : allowed_cpus()) {
        std::ifstream f("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings");
        std::string line;
        if (std::getline(f, line)) cores.insert(line);
    }
    if (!cores.empty()) return int(cores.size());
#endif
    const unsigned n = std::thread::hardware_concurrency();
    return int(n <= 4 ? (n ? n : 4) : n / 2);
}

}  // namespace

std::optional<double> cgroup_cores(const std::string & self, const std::string & mounts) {
    std::optional<double> least;
    std::istringstream lines(self);
    for (std::string line; std::getline(lines, line);) {  // "4:cpu,cpuacct:/user/a", in v2 "0::/user/a"
        const size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        std::string group = line.substr(second + 1);
        if (group == "/") group.clear();
        if (controllers.empty()) limit_by(least, mounts, group, share_of_v2);
        else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
            for (const std::string & mount : {mounts + "/" + controllers, mounts + "/cpu"}) {
                limit_by(least, mount, group, share_of_v1);
            }
        }
    }
    return least;
}

int available_cores() {
    int cores = int(std::max(1u, std::thread::hardware_concurrency()));
#ifdef __linux__
    if (const size_t allowed = allowed_cpus().size()) cores = int(allowed);
    std::ifstream file("/proc/self/cgroup");
    const std::string self{std::istreambuf_iterator<char>(file), {}};
    if (const auto quota = cgroup_cores(self, "/sys/fs/cgroup")) cores = std::min(cores, std::max(1, int(*quota)));
#endif
    return cores;
}

int usable_threads(int wanted) { return std::min(wanted > 0 ? wanted : physical_cores(), available_cores()); }

}  // namespace kvasir
