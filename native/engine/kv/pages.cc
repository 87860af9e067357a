#include "pages.h"

#include <algorithm>
#include <string>

#include "engine/error.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <sys/mman.h>
#endif

namespace kvasir {

namespace {

constexpr size_t kPage = 4096;  // smallest page size on any platform

[[noreturn]] void missing(size_t bytes) {
    throw Error("OUT_OF_MEMORY", "Could not allocate " + std::to_string(bytes >> 20) + " MiB.",
                "Use a smaller context or model, or close other programs.");
}

}  // namespace

Pages::Pages(size_t bytes) : Pages(bytes, bytes) {}

#ifdef _WIN32

// Committed memory counts, whether written or not.
Pages::Pages(size_t needed, size_t) : size_(needed) {
    data_ = static_cast<uint8_t *>(VirtualAlloc(nullptr, needed, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE));
    if (!data_) missing(needed);
}
Pages::~Pages() {
    if (data_) VirtualFree(data_, 0, MEM_RELEASE);
}

#else

Pages::Pages(size_t needed, size_t wanted) {
    for (const size_t bytes : {std::max(needed, wanted), needed}) {
        void * at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED) continue;
        data_ = static_cast<uint8_t *>(at), size_ = bytes;
        return;
    }
    missing(needed);
}
Pages::~Pages() {
    if (data_) munmap(data_, size_);
}

#endif

void Pages::advise_huge_pages(size_t offset, size_t bytes) const {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    constexpr uintptr_t kLarge = uintptr_t(2) << 20;  // if large pages are larger, the system ignores the hint
    const auto begin = reinterpret_cast<uintptr_t>(data_) + offset;
    const uintptr_t first = (begin + kLarge - 1) / kLarge * kLarge, last = (begin + bytes) / kLarge * kLarge;
    // If this fails, small pages work as well.
    if (first < last) madvise(reinterpret_cast<void *>(first), last - first, MADV_HUGEPAGE);
#endif
}

void Pages::prefault(size_t offset, size_t bytes) const {
    for (size_t at = offset; at < offset + bytes; at += kPage) {
        volatile uint8_t & byte = data_[at];
        byte = byte;
    }
}

}  // namespace kvasir
