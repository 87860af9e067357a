#include "lost_pages.h"

#include <atomic>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <string>

#ifndef _WIN32
#include <csignal>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/sysmacros.h>
#endif
#endif

namespace kvasir {

#ifdef _WIN32
WatchedRange::WatchedRange(const void *, size_t) {}
WatchedRange::~WatchedRange() {}
bool WatchedRange::lost() const { return false; }
std::vector<std::unique_ptr<WatchedRange>> watch_mappings_of(int) { return {}; }
#else
namespace {
// Read by the signal handler, which must not lock: an entry is in use while its end is not 0.
struct Slot {
    std::atomic<uintptr_t> begin{0}, end{0};
    std::atomic<bool> lost{false};
};
constexpr int kSlots = 1024;
Slot slots[kSlots];
std::mutex slots_mutex;
struct sigaction before;
uintptr_t page_size;

void on_lost_page(int signal, siginfo_t * info, void * context) {
    const uintptr_t at = uintptr_t(info->si_addr);
    for (Slot & slot : slots) {
        const uintptr_t end = slot.end.load();
        if (at < slot.begin.load() || at >= end) continue;
        // The rest of the range as well: a truncated file has no data up to its end, and after a drive error nothing is
        // usable.
        const uintptr_t page = at / page_size * page_size;
        void * zeros = mmap(reinterpret_cast<void *>(page), end - page, PROT_READ,
                            MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (zeros == MAP_FAILED) break;
        slot.lost = true;
        return;
    }
    if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(signal, info, context);
    // Not in a watched range: restore the previous handler, which acts when the instruction is retried.
    sigaction(SIGBUS, &before, nullptr);
}

void install_handler() {
    page_size = uintptr_t(sysconf(_SC_PAGESIZE));
    struct sigaction action {};
    action.sa_sigaction = on_lost_page;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &before);
}
}  // namespace

WatchedRange::WatchedRange(const void * begin, size_t size) {
    static std::once_flag installed;
    std::call_once(installed, install_handler);
    std::lock_guard lock(slots_mutex);
    for (int i = 0; i < kSlots && slot_ < 0; ++i) {
        Slot & slot = slots[i];
        if (slot.end != 0) continue;
        slot.lost = false;
        slot.begin = uintptr_t(begin);
        slot.end = uintptr_t(begin) + size;
        slot_ = i;
    }
}
WatchedRange::~WatchedRange() {
    if (slot_ >= 0) slots[slot_].end = 0;
}
bool WatchedRange::lost() const { return slot_ >= 0 && slots[slot_].lost; }

std::vector<std::unique_ptr<WatchedRange>> watch_mappings_of(int fd) {
    std::vector<std::unique_ptr<WatchedRange>> out;
#ifdef __linux__
    struct stat st {};
    if (fstat(fd, &st) != 0) return out;
    // address, permissions, offset, device, inode, path: proc_pid_maps(5)
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        uintptr_t begin = 0, end = 0;
        unsigned major = 0, minor = 0;
        uint64_t inode = 0;
        const int found = std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %*s %*x %x:%x %" SCNu64, &begin, &end,
                                      &major, &minor, &inode);
        if (found != 5 || inode != st.st_ino || makedev(major, minor) != st.st_dev) continue;
        out.push_back(std::make_unique<WatchedRange>(reinterpret_cast<void *>(begin), end - begin));
    }
#else
    (void)fd;
#endif
    return out;
}
#endif

}  // namespace kvasir
