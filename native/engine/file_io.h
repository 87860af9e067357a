#pragma once
// Files of chunks: read at any offset, written for good.
//
// Thread safety: any thread may read an InputFile, several at once; and write files of its own.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kvasir {

class InputFile {
  public:
    // CHUNK_CORRUPT when it is gone, ENGINE_FAILED when it can't be opened.
    explicit InputFile(const std::string & path);
    ~InputFile();
    InputFile(const InputFile &) = delete;
    uint64_t size() const { return size_; }
    // Reads exactly `n` bytes; CHUNK_CORRUPT when the file ends before.
    void read(void * dst, size_t n, uint64_t offset) const;

  private:
    std::string path_;
    uint64_t size_ = 0;
    intptr_t handle_ = -1;
};

struct ByteSpan {
    const void * data;
    size_t size;
};

// Creates or truncates `path`, writes the pieces one behind another, flushes them to the device. On failure the file is
// removed. DISK_FULL, STORE_READ_ONLY.
void write_file_durably(const std::string & path, const std::vector<ByteSpan> & pieces);

}  // namespace kvasir
