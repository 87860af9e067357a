#pragma once
// A file of weights in memory, by mmap.
//
// Thread safety: does not change once it is open; any thread may read it.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lost_pages.h"

namespace kvasir {

// What people do about a model file that is not whole.
inline constexpr const char * kFetchAgain = "The download may be incomplete or damaged; fetch the file again.";

class MappedFile {
  public:
    explicit MappedFile(const std::string & path);
    ~MappedFile();
    MappedFile(const MappedFile &) = delete;
    const uint8_t * data() const { return data_; }
    size_t size() const { return size_; }
    // Whether the file was written to or cut since it was opened, or could not be read; zeros are read then. A file
    // that another one took the place of is as it was, as long as it is open. False where the system keeps open files
    // as they are.
    bool changed() const;
    // Counts what libllama has mapped of the file as well from now on.
    void watch_other_mappings();
    // Tells the system that a range will not be read again (its pages stay reloadable from the file).
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
