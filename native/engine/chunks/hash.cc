#include "hash.h"

#include <algorithm>
#include <cstring>

namespace kvasir {

namespace {

constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t ror(uint32_t x, int n) { return x >> n | x << (32 - n); }
uint64_t rol64(uint64_t x, int n) { return x << n | x >> (64 - n); }

uint32_t load_be32(const uint8_t * p) {
    return uint32_t(p[0]) << 24 | uint32_t(p[1]) << 16 | uint32_t(p[2]) << 8 | p[3];
}

template <typename T> T load_le(const uint8_t * p) {
    T v;  // every platform that ggml supports is little-endian
    std::memcpy(&v, p, sizeof v);
    return v;
}

constexpr uint64_t P1 = 0x9E3779B185EBCA87ull, P2 = 0xC2B2AE3D27D4EB4Full, P3 = 0x165667B19E3779F9ull,
                   P4 = 0x85EBCA77C2B2AE63ull, P5 = 0x27D4EB2F165667C5ull;

uint64_t xx_round(uint64_t acc, uint64_t lane) { return rol64(acc + lane * P2, 31) * P1; }

}  // namespace

Sha256::Sha256()
    : h_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

void Sha256::block(const uint8_t * p) {
    uint32_t w[64];
    for (int i = 0; i < 16; ++i) w[i] = load_be32(p + 4 * i);
    for (int i = 16; i < 64; ++i) {
        const uint32_t s0 = ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3;
        const uint32_t s1 = ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = h_;
    for (int i = 0; i < 64; ++i) {
        const uint32_t s1 = ror(e, 6) ^ ror(e, 11) ^ ror(e, 25);
        const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
        const uint32_t s0 = ror(a, 2) ^ ror(a, 13) ^ ror(a, 22);
        const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const uint32_t sum[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; ++i) h_[i] += sum[i];
}

void Sha256::update(const void * data, size_t size) {
    auto * p = static_cast<const uint8_t *>(data);
    size_t fill = total_ % 64;
    total_ += size;
    if (fill) {
        const size_t n = std::min(size, 64 - fill);
        std::memcpy(buf_.data() + fill, p, n);
        p += n, size -= n;
        if (fill + n < 64) return;
        block(buf_.data());
    }
    for (; size >= 64; p += 64, size -= 64) block(p);
    if (size) std::memcpy(buf_.data(), p, size);
}

std::array<uint8_t, 32> Sha256::digest() {
    const uint64_t bits = total_ * 8;
    const uint8_t one = 0x80, zero = 0;
    update(&one, 1);
    while (total_ % 64 != 56) update(&zero, 1);
    uint8_t len[8];
    for (int i = 0; i < 8; ++i) len[i] = uint8_t(bits >> (56 - 8 * i));
    update(len, 8);
    std::array<uint8_t, 32> out;
    for (int i = 0; i < 32; ++i) out[i] = uint8_t(h_[i / 4] >> (24 - 8 * (i % 4)));
    return out;
}

std::string to_hex(const std::array<uint8_t, 32> & digest) {
    static const char * digits = "0123456789abcdef";
    std::string s;
    for (uint8_t b : digest) s += digits[b >> 4], s += digits[b & 15];
    return s;
}

uint64_t xxh64(const void * data, size_t size, uint64_t seed) {
    auto * p = static_cast<const uint8_t *>(data);
    const uint8_t * end = p + size;
    uint64_t h;
    if (size >= 32) {
        uint64_t v[4] = {seed + P1 + P2, seed + P2, seed, seed - P1};
        for (; p + 32 <= end; p += 32)
            for (int i = 0; i < 4; ++i) v[i] = xx_round(v[i], load_le<uint64_t>(p + 8 * i));
        h = rol64(v[0], 1) + rol64(v[1], 7) + rol64(v[2], 12) + rol64(v[3], 18);
        for (uint64_t lane : v) h = (h ^ xx_round(0, lane)) * P1 + P4;
    } else {
        h = seed + P5;
    }
    h += size;
    for (; p + 8 <= end; p += 8) h = rol64(h ^ xx_round(0, load_le<uint64_t>(p)), 27) * P1 + P4;
    if (p + 4 <= end) h = rol64(h ^ load_le<uint32_t>(p) * P1, 23) * P2 + P3, p += 4;
    for (; p < end; ++p) h = rol64(h ^ *p * P5, 11) * P1;
    h = (h ^ h >> 33) * P2;
    h = (h ^ h >> 29) * P3;
    return h ^ h >> 32;
}

}  // namespace kvasir
