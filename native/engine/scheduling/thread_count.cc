#include "thread_count.h"

#include <algorithm>
#include <cmath>

#ifdef _WIN32
#include <thread>
#include <windows.h>
#else
#include <ctime>
#include <unistd.h>
#endif
#ifdef __APPLE__
#include <mach/mach.h>
#include <thread>
#elif defined(__linux__)
#include <cstdio>
#include <fstream>
#include <sched.h>
#include <string>
#endif

namespace kvasir {

namespace {
// The counters are accurate to 10 ms per core.
constexpr double kLookMs = 200;
// This share of a core, by inexact counters, is worth a thread.
constexpr double kWholeCore = 0.4;
// Maximum gap between two graphs of one pass.
constexpr double kGapMs = 5;

thread_local bool leaves_a_core = false;

CoreUse & cores_in_use() {
    static CoreUse use;
    return use;
}

#ifdef _WIN32
double ms_of(const FILETIME & t) { return (double(t.dwHighDateTime) * 4294967296.0 + double(t.dwLowDateTime)) / 1e4; }
#endif
}  // namespace

double process_ms() {
#ifdef _WIN32
    FILETIME made, ended, kernel, user;
    if (!GetProcessTimes(GetCurrentProcess(), &made, &ended, &kernel, &user)) return 0;
    return ms_of(kernel) + ms_of(user);
#else
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) * 1e3 + double(t.tv_nsec) / 1e6;
#endif
}
double clock_ms() { return std::chrono::duration<double, std::milli>(Clock::now().time_since_epoch()).count(); }

#ifdef _WIN32
Idle idle_cores() {
    FILETIME idle, kernel, user;
    const bool read = GetSystemTimes(&idle, &kernel, &user);
    return {read ? ms_of(idle) : 0, int(std::thread::hardware_concurrency())};
}
#elif defined(__APPLE__)
Idle idle_cores() {
    static const mach_port_t host = mach_host_self();
    host_cpu_load_info_data_t load{};
    mach_msg_type_number_t count = HOST_CPU_LOAD_INFO_COUNT;
    const bool read = host_statistics(host, HOST_CPU_LOAD_INFO, host_info_t(&load), &count) == KERN_SUCCESS;
    const double ms = double(load.cpu_ticks[CPU_STATE_IDLE]) * 1e3 / double(sysconf(_SC_CLK_TCK));
    return {read ? ms : 0, int(std::thread::hardware_concurrency())};
}
#else
// One line per core: cpu0 user nice system idle iowait …, in ticks (proc_stat(5)).
Idle idle_cores() {
    cpu_set_t allowed;
    const bool known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
    double ticks = 0;
    int cores = 0;
    std::ifstream stat("/proc/stat");
    for (std::string line; std::getline(stat, line) && line.starts_with("cpu");) {
        int core = 0;
        double idle = 0, waiting = 0;
        if (std::sscanf(line.c_str(), "cpu%d %*f %*f %*f %lf %lf", &core, &idle, &waiting) != 3) continue;
        if (!known || core >= CPU_SETSIZE || CPU_ISSET(core, &allowed)) ticks += idle + waiting, ++cores;
    }
    return {ticks * 1e3 / double(sysconf(_SC_CLK_TCK)), cores};
}
#endif

CoreUse::CoreUse(Counter now, Counter process, std::function<Idle()> idle)
    : now_(std::move(now)),
      process_(std::move(process)),
      idle_(std::move(idle)),
      counted_now_(now_()),
      counted_process_(process_()),
      last_look_(counted_now_),
      last_idle_(idle_().ms) {}

int CoreUse::begin(int most, bool fixed) {
    std::lock_guard lock(mutex_);
    account();
    look();
    const double cores = fixed || !free_ ? most : *free_ - in_use_;
    const int threads = std::clamp(int(std::floor(cores + 1 - kWholeCore)), 1, most);
    in_use_ += threads;
    return threads;
}

void CoreUse::end(int threads) {
    std::lock_guard lock(mutex_);
    account();
    in_use_ -= threads;
    ended_ = threads;
}

// Other work of this process, such as parsing documents, takes cores from graphs just as other programs do.
void CoreUse::account() {
    const double now = now_(), process = process_(), passed = now - counted_now_;
    const int threads = in_use_ == 0 && passed < kGapMs ? ended_ : in_use_;
    own_ += std::min(process - counted_process_, threads * passed);
    wanted_ += threads * passed;
    counted_now_ = now, counted_process_ = process;
}

void CoreUse::look() {
    const double passed = counted_now_ - last_look_;
    if (passed < kLookMs) return;
    const auto [ms, cores] = idle_();
    const double idle = ms - last_idle_, others = std::max(0.0, cores * passed - idle - own_);
    // If our threads were kept from computing, so were the others', which would use more.
    const double share = wanted_ > 0 ? std::clamp((own_ + idle) / wanted_, 0.1, 1.0) : 1;
    if (ms > 0) free_ = cores - others / share / passed;
    last_look_ = counted_now_, last_idle_ = ms;
    own_ = wanted_ = 0;
}

ThreadCount::Begun::Begun(const ThreadCount & of)
    : threads(cores_in_use().begin(of.fixed_ ? of.most_ : LeavesACore::most_of(of.most_), of.fixed_)) {}
ThreadCount::Begun::~Begun() { cores_in_use().end(threads); }

LeavesACore::LeavesACore(bool wanted) : before_(leaves_a_core) { leaves_a_core = leaves_a_core || wanted; }
LeavesACore::~LeavesACore() { leaves_a_core = before_; }
int LeavesACore::most_of(int most) { return leaves_a_core && most > 2 ? most - 1 : most; }

}  // namespace kvasir
