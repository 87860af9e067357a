#pragma once
// Pages of mapped files that can no longer be read: another program truncated the file, or its drive was removed. The
// system would kill the process (SIGBUS). Instead, such pages read as zeros from then on, and lost() reports it, so
// that the caller can raise an error.
//
// Windows refuses to truncate a mapped file, so nothing is done there.
//
// Thread safety: any thread may read a watched range and call lost().
#include <cstddef>
#include <memory>
#include <vector>

namespace kvasir {

class WatchedRange {
  public:
    // Watches a private mapping for the lifetime of this object. Does nothing if too many ranges are watched.
    WatchedRange(const void * begin, size_t size);
    ~WatchedRange();
    WatchedRange(const WatchedRange &) = delete;
    bool lost() const;

  private:
    int slot_ = -1;
};

// Watches all other mappings of the open file `fd` in this process, such as libllama's, whose addresses are not
// exposed. Empty if the system does not list mappings (all but Linux).
std::vector<std::unique_ptr<WatchedRange>> watch_mappings_of(int fd);

}  // namespace kvasir
