#pragma once
// Thread safety: a Sha256 belongs to one thread; any thread may call the functions.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace kvasir {

// SHA-256 (FIPS 180-4), incremental.
class Sha256 {
  public:
    Sha256();
    void update(const void * data, size_t size);
    std::array<uint8_t, 32> digest();

  private:
    void block(const uint8_t * p);
    std::array<uint32_t, 8> h_;
    std::array<uint8_t, 64> buf_{};
    uint64_t total_ = 0;
};

std::string to_hex(const std::array<uint8_t, 32> & digest);

// XXH64 (xxHash specification 0.1.1), one-shot: fast enough that checking a layer costs less than copying it.
uint64_t xxh64(const void * data, size_t size, uint64_t seed = 0);

}  // namespace kvasir
