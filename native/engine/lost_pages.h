#pragma once
// Pages of mapped files that cannot be read any more: another program cut the file, or its drive went away. The system
// would end the process (SIGBUS); instead zeros stand there from then on, and the range says that it is lost, so that
// whoever computes with it can give an error.
//
// Windows refuses to cut a file that is mapped, and is left as it is.
//
// Thread safety: any thread may read a range that is watched, and ask for lost().
#include <cstddef>
#include <memory>
#include <vector>

namespace kvasir {

class WatchedRange {
  public:
    // Of a mapping that only this process sees; until the range is gone. Where too many are watched, this one is not.
    WatchedRange(const void * begin, size_t size);
    ~WatchedRange();
    WatchedRange(const WatchedRange &) = delete;
    bool lost() const;

  private:
    int slot_ = -1;
};

// What else of this process maps the open file `fd`: libllama, which keeps its addresses to itself. Empty where the
// system does not list mappings (all but Linux).
std::vector<std::unique_ptr<WatchedRange>> watch_mappings_of(int fd);

}  // namespace kvasir
