#pragma once
// Chunk files: random-access reads, durable writes.
//
// Thread safety: any number of threads may read an InputFile concurrently, and write different files.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kvasir {

class InputFile {
  public:
    // `patience`: how long the drive may take for a call; zero: no limit. A call that takes longer continues on a
    // separate thread. CHUNK_CORRUPT if the file is gone, CHUNK_UNREADABLE if the system cannot open it.
    explicit InputFile(const std::string & path, std::chrono::milliseconds patience = {});
    InputFile(const InputFile &) = delete;
    uint64_t size() const;
    // Reads exactly `n` bytes. CHUNK_CORRUPT if the file ends before that; CHUNK_UNREADABLE if the system cannot read
    // it.
    void read(void * dst, size_t n, uint64_t offset) const;

  private:
    struct Open;  // outlives this file while a call takes longer
    std::chrono::milliseconds patience_;
    std::shared_ptr<const Open> open_;
};

struct ByteSpan {
    const void * data;
    size_t size;
};

// Creates or truncates `path`, writes the pieces in order, and flushes them to the device. Removes the file on failure.
// DISK_FULL, STORE_READ_ONLY.
void write_file_durably(const std::string & path, const std::vector<ByteSpan> & pieces);

}  // namespace kvasir
