#include "chunk_kv.h"

#include <cstring>

#include "convert.h"
#include "error.h"
#include "hash.h"

namespace kvasir {

namespace {

constexpr char kMagic[8] = {'K', 'V', 'A', 'S', 'I', 'R', 'K', 'V'};
constexpr uint32_t kVersion = 1;
constexpr uint32_t kPage = 4096;
constexpr uint32_t kMaxTokens = 1u << 20, kMaxLayers = 1024, kMaxKvDim = 1u << 16;

// The header's fixed part; little-endian, no padding. docs/formats/chunk-kv.md.
struct Fixed {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes;
    uint8_t fingerprint[32];
    uint8_t prefix_hash[32];
    uint32_t dtype, n_layer, n_head_kv, head_dim, n_tokens, n_vocab;
    uint64_t layer_bytes;
    uint64_t file_bytes;
    uint64_t reserved;
};
static_assert(sizeof(Fixed) == 128);

// Fixed part, token ids, layer checksums, checksum of all that.
size_t used_header_bytes(size_t n_tokens, size_t n_layer) { return sizeof(Fixed) + 4 * n_tokens + 8 * n_layer + 8; }
size_t padded(size_t n) { return (n + kPage - 1) / kPage * kPage; }

[[noreturn]] void corrupt(const std::string & path, const std::string & why) {
    throw Error("CHUNK_CORRUPT", "The chunk file " + path + " is damaged: " + why + ".",
                "It will be computed again when it is needed.");
}

}  // namespace

Digest hash_tokens(const std::vector<int32_t> & tokens) {
    Sha256 sha;
    sha.update(tokens.data(), tokens.size() * sizeof(int32_t));
    return sha.digest();
}

ChunkHeader read_chunk_header(const InputFile & file, const std::string & path) {
    Fixed f;
    if (file.size() < sizeof f) corrupt(path, "it is shorter than a header");
    file.read(&f, sizeof f, 0);
    if (std::memcmp(f.magic, kMagic, sizeof kMagic) != 0) corrupt(path, "it is not a chunk file");
    if (f.version > kVersion) {
        throw Error("CHUNK_VERSION",
                    "The chunk file " + path + " was written by a newer version of Kvasir (format " +
                        std::to_string(f.version) + ").",
                    "Update Kvasir to use it; it was left as it is.");
    }
    const uint64_t kv_dim = uint64_t(f.n_head_kv) * f.head_dim;
    if (f.version == 0 || f.dtype > 1 || f.n_layer == 0 || f.n_layer > kMaxLayers || f.n_tokens == 0 ||
        f.n_tokens > kMaxTokens || f.head_dim > kMaxKvDim || f.n_head_kv > kMaxKvDim || kv_dim == 0 ||
        kv_dim > kMaxKvDim || kv_dim % 32 != 0) {
        corrupt(path, "its header is out of range");
    }
    ChunkHeader h;
    h.version = f.version;
    std::memcpy(h.shape.fingerprint.data(), f.fingerprint, 32);
    std::memcpy(h.shape.prefix_hash.data(), f.prefix_hash, 32);
    h.shape.dtype = KvDtype(f.dtype);
    h.shape.n_layer = f.n_layer, h.shape.n_head_kv = f.n_head_kv;
    h.shape.head_dim = f.head_dim, h.shape.n_vocab = f.n_vocab;

    const size_t used = used_header_bytes(f.n_tokens, f.n_layer);
    const uint64_t layer_bytes = 2 * uint64_t(f.n_tokens) * h.shape.row_bytes();
    if (f.header_bytes != padded(used) || f.layer_bytes != layer_bytes ||
        f.file_bytes != f.header_bytes + layer_bytes * f.n_layer || f.file_bytes != file.size()) {
        corrupt(path, "its size does not agree with its header");
    }
    std::vector<uint8_t> all(used);
    file.read(all.data(), used, 0);
    uint64_t stored;
    std::memcpy(&stored, all.data() + used - 8, 8);
    if (stored != xxh64(all.data(), used - 8)) corrupt(path, "its header's checksum is wrong");
    h.tokens.resize(f.n_tokens);
    std::memcpy(h.tokens.data(), all.data() + sizeof(Fixed), 4 * size_t(f.n_tokens));
    h.layer_checksums.resize(f.n_layer);
    std::memcpy(h.layer_checksums.data(), all.data() + sizeof(Fixed) + 4 * size_t(f.n_tokens), 8 * size_t(f.n_layer));
    h.data_offset = f.header_bytes;
    h.file_bytes = f.file_bytes;
    return h;
}

void verify_chunk_file(const std::string & path) {
    ChunkKv chunk(path);
    const InputFile file(path);
    std::vector<uint8_t> layer(chunk.layer_bytes());
    for (uint32_t il = 0; il < chunk.shape().n_layer; ++il) chunk.read_layer(file, int(il), layer.data());
}

ChunkKv::ChunkKv(ChunkShape shape, std::vector<int32_t> tokens) {
    header_.shape = shape;
    header_.tokens = std::move(tokens);
    data_.resize(bytes());
    in_memory_ = true;
}

ChunkKv::ChunkKv(const std::string & path) : path_(path) { header_ = read_chunk_header(InputFile(path), path); }

void ChunkKv::store_rows(int il, size_t first, size_t n, const float * k, const float * v) {
    const size_t row = shape().row_bytes(), kv_dim = size_t(shape().n_head_kv) * shape().head_dim;
    kv_from_f32(shape().dtype, k, layer(il) + first * row, n * kv_dim);
    kv_from_f32(shape().dtype, v, layer(il) + (n_tokens() + first) * row, n * kv_dim);
}

void ChunkKv::read_layer(const InputFile & file, int il, uint8_t * dst) const {
    file.read(dst, layer_bytes(), header_.data_offset + uint64_t(il) * layer_bytes());
    if (xxh64(dst, layer_bytes()) != header_.layer_checksums[size_t(il)]) {
        corrupt(path_, "the checksum of layer " + std::to_string(il) + " is wrong");
    }
}

void ChunkKv::pull_in() {
    if (in_memory()) return;
    const InputFile file(path_);
    std::vector<uint8_t> data(bytes());
    for (uint32_t il = 0; il < shape().n_layer; ++il) read_layer(file, int(il), data.data() + il * layer_bytes());
    data_ = std::move(data);
    in_memory_ = true;
}

uint64_t ChunkKv::save(const std::string & path) const {
    require(in_memory(), "only a chunk in memory can be saved");
    const size_t used = used_header_bytes(n_tokens(), shape().n_layer);
    std::vector<uint8_t> header(padded(used));
    Fixed f{};
    std::memcpy(f.magic, kMagic, sizeof kMagic);
    f.version = kVersion;
    f.header_bytes = uint32_t(header.size());
    std::memcpy(f.fingerprint, shape().fingerprint.data(), 32);
    std::memcpy(f.prefix_hash, shape().prefix_hash.data(), 32);
    f.dtype = uint32_t(shape().dtype), f.n_layer = shape().n_layer, f.n_head_kv = shape().n_head_kv;
    f.head_dim = shape().head_dim, f.n_tokens = uint32_t(n_tokens()), f.n_vocab = shape().n_vocab;
    f.layer_bytes = layer_bytes();
    f.file_bytes = header.size() + data_.size();
    std::memcpy(header.data(), &f, sizeof f);
    std::memcpy(header.data() + sizeof f, tokens().data(), 4 * n_tokens());
    uint8_t * sums = header.data() + sizeof f + 4 * n_tokens();
    for (uint32_t il = 0; il < shape().n_layer; ++il) {
        const uint64_t sum = xxh64(layer(int(il)), layer_bytes());
        std::memcpy(sums + 8 * il, &sum, 8);
    }
    const uint64_t whole = xxh64(header.data(), used - 8);
    std::memcpy(header.data() + used - 8, &whole, 8);
    write_file_durably(path, {{header.data(), header.size()}, {data_.data(), data_.size()}});
    return f.file_bytes;
}

}  // namespace kvasir
