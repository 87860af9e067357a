// Runs a target on inputs that libFuzzer mutates, guided by the coverage of our own code: ggml, which parses GGUF
// headers first, is prebuilt, so only its calls of the C library are checked there.
#include <sys/mman.h>
#include <unistd.h>

#include "engine/error.h"
#include "ggml.h"
#include "llama.h"
#include "targets.h"

using kvasir::fuzz::KVASIR_FUZZ_TARGET;

extern "C" {

size_t LLVMFuzzerMutate(uint8_t * data, size_t size, size_t most);

int LLVMFuzzerInitialize(int *, char ***) {
    llama_log_set([](ggml_log_level, const char *, void *) {}, nullptr);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t * data, size_t size) {
    static const int fd = memfd_create("fuzzed", MFD_CLOEXEC);
    static const std::string path = "/proc/self/fd/" + std::to_string(fd);
    kvasir::require(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == ssize_t(size), "the input was not written");
    KVASIR_FUZZ_TARGET.run(path);
    return 0;
}

// One of eight mutations keeps wrong checksums.
size_t LLVMFuzzerCustomMutator(uint8_t * data, size_t size, size_t most, unsigned seed) {
    size = LLVMFuzzerMutate(data, size, most);
    if (KVASIR_FUZZ_TARGET.repair && seed % 8 != 0) KVASIR_FUZZ_TARGET.repair(data, size);
    return size;
}

}
