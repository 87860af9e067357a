#pragma once
// Memory straight from the operating system.
//
// Thread safety: as a vector's; threads may call the const members, and use the bytes, at once.
#include <cstddef>
#include <cstdint>
#include <utility>

namespace kvasir {

// It reads as zeros, and a page of it is taken only once it is written.
class Pages {
  public:
    Pages() = default;
    explicit Pages(size_t bytes);  // OUT_OF_MEMORY
    // `wanted` bytes where addresses cost nothing as long as nobody writes there, and the system gives them; else
    // `needed`. OUT_OF_MEMORY.
    Pages(size_t needed, size_t wanted);
    ~Pages();
    Pages(Pages && other) noexcept { swap(other); }
    Pages & operator=(Pages && other) noexcept { return Pages(std::move(other)).swap(*this), *this; }

    uint8_t * data() const { return data_; }
    size_t size() const { return size_; }

    // All of these bytes are about to be written: the system may give them in large pages, of which none reaches beyond
    // them.
    void advise_huge_pages(size_t offset, size_t bytes) const;
    // Takes the pages of these bytes now; what they hold stays.
    void prefault(size_t offset, size_t bytes) const;

  private:
    void swap(Pages & other) noexcept { std::swap(data_, other.data_), std::swap(size_, other.size_); }

    uint8_t * data_ = nullptr;
    size_t size_ = 0;
};

}  // namespace kvasir
