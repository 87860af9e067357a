#pragma once
// A weights file mapped into memory.
//
// Thread safety: immutable once open; any thread may read it.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lost_pages.h"

namespace kvasir {

// Advice for an incomplete model file.
inline constexpr const char * kFetchAgain = "The download may be incomplete or damaged; download the file again.";

class MappedFile {
  public:
    explicit MappedFile(const std::string & path);
    ~MappedFile();
    MappedFile(const MappedFile &) = delete;
    const uint8_t * data() const { return data_; }
    size_t size() const { return size_; }
    // Whether the file was written to or truncated since it was opened, or could not be read; then it reads as zeros. A
    // file that was replaced by another stays readable as long as it is open. Always false on systems that keep open
    // files unchanged.
    bool changed() const;
    // Also covers libllama's existing mappings of the file from now on.
    void watch_other_mappings();
    // Tells the system that a range will not be read again (its pages can still be reloaded from the file).
    void forget(size_t offset, size_t size) const;

  private:
    const uint8_t * data_ = nullptr;
    size_t size_ = 0;
    int fd_ = -1;
    int64_t modified_ns_ = 0;
    std::optional<WatchedRange> watched_;
    std::vector<std::unique_ptr<WatchedRange>> others_;
};

}  // namespace kvasir
