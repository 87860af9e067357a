#pragma once
#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kvasir::test {

// A copy that ends at a memory boundary: reading one byte more is a fault.
struct Guarded {
    size_t page = size_t(sysconf(_SC_PAGESIZE)), size;
    char * base;
    uint8_t * data;

    explicit Guarded(const std::vector<uint8_t> & from) : size((from.size() + page - 1) / page * page) {
        base =
            static_cast<char *>(mmap(nullptr, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        mprotect(base + size, page, PROT_NONE);
        data = reinterpret_cast<uint8_t *>(base + size) - from.size();
        std::copy(from.begin(), from.end(), data);
    }
    ~Guarded() { munmap(base, size + page); }
};

}  // namespace kvasir::test
#endif
