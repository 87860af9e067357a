// Finds uses of a library's memory after it was freed. Preloaded into a program, it places each small object that the
// library allocates with calloc on separate pages. These are never reused, and become inaccessible when the object is
// freed: any later access crashes there, where a debugger shows it.
//   LD_PRELOAD=build/native/kvasir-guard.so KVASIR_GUARD=libvulkan_lvp gdb --args build/native/kvasir-passes …
// Linux only. A long run needs more mappings than the default limit (sysctl vm.max_map_count).
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

constexpr size_t kPage = 4096, kArena = size_t(1) << 37;
// Sizes of objects whose references a driver counts; smaller ones are compilers' temporaries, larger ones buffers.
constexpr size_t kShortest = 64, kLongest = 1000;

uintptr_t code_begin = 0, code_end = 0;  // of the library
char * arena = nullptr;
std::atomic<size_t> taken{0};

template <typename F> F real(const char * name) { return reinterpret_cast<F>(dlsym(RTLD_NEXT, name)); }

// For dlsym's own allocations before calloc is known.
alignas(16) char early[65536];
size_t early_taken = 0;

bool is_in(const void * p, const char * begin, size_t bytes) {
    return begin && p >= begin && p < begin + bytes;
}

int find_code(dl_phdr_info * info, size_t, void * library) {
    if (!info->dlpi_name || !std::strstr(info->dlpi_name, static_cast<const char *>(library))) return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto & part = info->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
        code_begin = info->dlpi_addr + part.p_vaddr;
        code_end = code_begin + part.p_memsz;
    }
    return 1;
}

void * on_pages_of_its_own(size_t bytes) {
    const size_t used = (bytes + kPage - 1) / kPage * kPage;
    char * at = arena + taken.fetch_add(used + kPage);
    return mprotect(at, used, PROT_READ | PROT_WRITE) == 0 ? at : nullptr;
}

}  // namespace

extern "C" {

void * dlopen(const char * file, int flags) {
    static const auto next = real<void * (*)(const char *, int)>("dlopen");
    void * handle = next(file, flags);
    char * library = std::getenv("KVASIR_GUARD");
    if (library && file && std::strstr(file, library)) {
        arena = static_cast<char *>(
            mmap(nullptr, kArena, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        dl_iterate_phdr(find_code, library);
    }
    return handle;
}

void * calloc(size_t count, size_t size) {
    static std::atomic<void * (*)(size_t, size_t)> next{nullptr};
    static std::atomic<bool> looking{false};
    if (!next.load()) {
        if (looking.exchange(true)) {
            char * at = early + early_taken;
            early_taken += (count * size + 15) / 16 * 16;
            return at;
        }
        next = real<void * (*)(size_t, size_t)>("calloc");
    }
    const auto caller = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
    const size_t bytes = count * size;
    if (caller >= code_begin && caller < code_end && bytes >= kShortest && bytes <= kLongest)
        return on_pages_of_its_own(bytes);
    return next.load()(count, size);
}

void free(void * p) {
    static const auto next = real<void (*)(void *)>("free");
    if (is_in(p, arena, kArena)) mprotect(p, kPage, PROT_NONE);
    else if (!is_in(p, early, sizeof early)) next(p);
}

void * realloc(void * p, size_t bytes) {
    static const auto next = real<void * (*)(void *, size_t)>("realloc");
    if (!is_in(p, arena, kArena)) return next(p, bytes);
    void * moved = std::malloc(bytes);
    std::memcpy(moved, p, bytes < kLongest ? bytes : kLongest);
    free(p);
    return moved;
}
}
