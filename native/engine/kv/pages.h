#pragma once
// Memory straight from the operating system.
//
// Thread safety: as std::vector; threads may call the const members and use the bytes concurrently.
#include <cstddef>
#include <cstdint>
#include <utility>

namespace kvasir {

// Reads as zeros; a page takes memory only once it is written.
class Pages {
  public:
    Pages() = default;
    explicit Pages(size_t bytes);  // OUT_OF_MEMORY
    // Reserves `wanted` bytes if reserving addresses is free and the system allows it, else `needed`. OUT_OF_MEMORY.
    Pages(size_t needed, size_t wanted);
    ~Pages();
    Pages(Pages && other) noexcept { swap(other); }
    Pages & operator=(Pages && other) noexcept { return Pages(std::move(other)).swap(*this), *this; }

    uint8_t * data() const { return data_; }
    size_t size() const { return size_; }

    // Hints that all of these bytes are about to be written. The system may use large pages that lie entirely within
    // them.
    void advise_huge_pages(size_t offset, size_t bytes) const;
    // Takes the memory of these pages now; their contents are unchanged.
    void prefault(size_t offset, size_t bytes) const;

  private:
    void swap(Pages & other) noexcept { std::swap(data_, other.data_), std::swap(size_, other.size_); }

    uint8_t * data_ = nullptr;
    size_t size_ = 0;
};

}  // namespace kvasir
