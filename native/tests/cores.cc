// The number of useful threads: limited by the processors this process may run on, and by its cgroup's quota.
#include "engine/scheduling/cores.h"

#include <filesystem>
#include <fstream>

#include "tests/harness.h"

#ifdef __linux__
#include <sched.h>
#endif

using namespace kvasir;

namespace {

std::string groups(const std::string & name) {
    const std::string root = test::scratch(name);
    std::filesystem::remove_all(root);
    return root;
}

void put(const std::string & folder, const std::string & file, const std::string & text) {
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/" + file) << text << "\n";
}

}  // namespace

TEST(a_groups_share_of_cores_is_the_minimum_over_its_ancestors) {
    const std::string root = groups("v2");
    CHECK(!cgroup_cores("0::/a/b\n", root).has_value());
    put(root + "/a/b", "cpu.max", "max 100000");
    CHECK(!cgroup_cores("0::/a/b\n", root).has_value());
    put(root + "/a/b", "cpu.max", "400000 100000");
    CHECK_EQ(cgroup_cores("0::/a/b\n", root).value_or(0), 4.0);
    put(root + "/a", "cpu.max", "150000 100000");
    CHECK_EQ(cgroup_cores("0::/a/b\n", root).value_or(0), 1.5);
    CHECK(!cgroup_cores("0::/other\n", root).has_value());
}

TEST(in_a_container_the_groups_folder_is_the_mount) {
    const std::string root = groups("container");
    put(root, "cpu.max", "200000 100000");
    CHECK_EQ(cgroup_cores("0::/\n", root).value_or(0), 2.0);
    CHECK_EQ(cgroup_cores("0::/of/the/host\n", root).value_or(0), 2.0);
}

TEST(in_cgroups_v1_the_cpu_controller_sets_the_share) {
    const std::string root = groups("v1"), self = "5:memory:/a\n4:cpu,cpuacct:/a\n0::/a\n";
    put(root + "/cpu,cpuacct/a", "cpu.cfs_quota_us", "-1");
    put(root + "/cpu,cpuacct/a", "cpu.cfs_period_us", "100000");
    CHECK(!cgroup_cores(self, root).has_value());
    put(root + "/cpu,cpuacct/a", "cpu.cfs_quota_us", "300000");
    CHECK_EQ(cgroup_cores(self, root).value_or(0), 3.0);
    put(root + "/memory/a", "cpu.cfs_quota_us", "100000");
    CHECK_EQ(cgroup_cores(self, root).value_or(0), 3.0);
}

TEST(nonsense_from_cgroups_is_ignored) {
    const std::string root = groups("nonsense");
    for (const char * text : {"", "max", "-5 100000", "100000 0", "nan 5", "words words"}) {
        put(root, "cpu.max", text);
        CHECK(!cgroup_cores("0::/\n", root).has_value());
    }
    CHECK(!cgroup_cores("without colons\n\n::\n", root).has_value());
}

TEST(there_are_never_more_threads_than_available_cores) {
    CHECK(usable_threads(0) >= 1);
    CHECK_EQ(usable_threads(1), 1);
    CHECK_EQ(usable_threads(1 << 20), available_cores());
}

#ifdef __linux__
TEST(cores_that_this_process_may_not_run_on_do_not_count) {
    cpu_set_t before, one;
    sched_getaffinity(0, sizeof before, &before);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
        if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    CHECK_EQ(available_cores(), 1);
    CHECK_EQ(usable_threads(8), 1);
    CHECK_EQ(usable_threads(0), 1);
    sched_setaffinity(0, sizeof before, &before);
}
#endif
