#pragma once
// One chunk's KV as stored: every layer's keys without RoPE (after the model's key norm, if any) and values,
// token-major; in memory, in a file, or arriving from elsewhere. File format: docs/formats/chunk-kv.md.
//
// Thread safety: any thread may read what the constructors set (shape, tokens, sizes), arrives() and in_memory().
// store_rows() belongs to one thread, and no other thread may use the KV meanwhile; afterwards the KV is immutable and
// any thread may read it. Any thread may open the file and read layers of it, also while another thread, one at a time,
// runs pull_in(). receive() and fail() belong to one thread; any thread may wait for a layer and then read it.
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "arrival.h"
#include "file_io.h"
#include "layer_format.h"

namespace kvasir {

// A range of a chunk's tokens: [begin, begin + count).
struct TokenRange {
    size_t begin, count;
};

using Digest = std::array<uint8_t, 32>;

// The row of a file's only layer whose bytes have no rows: those of another program (llama/stored_beginning.h).
constexpr KvRow kOpaque{};

// Must match before a chunk may be placed into a session.
struct ChunkShape {
    Digest fingerprint{};       // of the model
    Digest prefix_hash{};       // SHA-256 over the encoding prefix's token ids
    KvDtype dtype = KvDtype::f16;
    std::vector<KvRow> layers;  // layers that have their own keys and values
    uint32_t n_vocab = 0;

    bool operator==(const ChunkShape &) const = default;

    int n_layer() const { return int(layers.size()); }
    int64_t kv_dim(int il) const { return layers[size_t(il)].size(); }
    // Of a row that is ready to be placed.
    size_t row_bytes(int il) const { return ggml_row_size(dtype_ggml(dtype), kv_dim(il)); }
};

Digest hash_tokens(const std::vector<int32_t> & tokens);

struct ChunkHeader {
    uint32_t version = 0;
    ChunkShape shape;
    std::vector<int32_t> tokens;
    std::vector<uint64_t> layer_checksums;  // XXH64 of a layer's K and V
    std::vector<uint64_t> layer_begins;     // offset of each layer after the header, and the end of the last one
    uint64_t data_offset = 0;
    uint64_t file_bytes = 0;
};

// The key of a chunk in the store (docs/formats/store.md): equal keys mean interchangeable KV.
std::string chunk_key(const ChunkShape & shape, const std::vector<int32_t> & tokens);
// Reads and checks a header: CHUNK_CORRUPT, CHUNK_UNREADABLE, CHUNK_VERSION.
ChunkHeader read_chunk_header(const InputFile & file, const std::string & path);
// Reads the same from the beginning of a chunk file of `file_bytes` bytes; `name` appears in messages.
ChunkHeader read_chunk_header(ByteSpan beginning, uint64_t file_bytes, const std::string & name);
// Reads a whole file and checks every layer: CHUNK_CORRUPT, CHUNK_UNREADABLE, CHUNK_VERSION.
void verify_chunk_file(const std::string & path);

class ChunkKv {
  public:
    // An in-memory chunk to fill layer by layer.
    ChunkKv(ChunkShape shape, std::vector<int32_t> tokens);
    // The memory of `tokens` as bytes of another program; the shape's only layer is kOpaque.
    ChunkKv(ChunkShape shape, std::vector<int32_t> tokens, const std::vector<uint8_t> & opaque);
    // A chunk in a file; the KV is read on use. `patience`: as for InputFile. CHUNK_CORRUPT, CHUNK_UNREADABLE,
    // CHUNK_VERSION.
    explicit ChunkKv(const std::string & path, std::chrono::milliseconds patience = {});
    // A chunk whose layers arrive: receive() supplies the bytes that follow this header in its file.
    explicit ChunkKv(ChunkHeader header);

    const ChunkShape & shape() const { return header_.shape; }
    const std::vector<int32_t> & tokens() const { return header_.tokens; }
    size_t n_tokens() const { return header_.tokens.size(); }
    size_t layer_bytes(int il) const { return size_t(begin(il + 1) - begin(il)); }  // K, then V
    // The same ready to be placed: more for packed formats.
    size_t placed_bytes(int il) const { return 2 * n_tokens() * shape().row_bytes(il); }
    size_t bytes() const { return size_t(header_.layer_begins.back()); }
    std::string key() const { return chunk_key(shape(), tokens()); }
    // XXH64 of each layer's K and V; empty for a chunk that was computed here and is not in a file.
    const std::vector<uint64_t> & checksums() const { return header_.layer_checksums; }
    // Whether all KV is in memory.
    bool in_memory() const { return in_memory_; }
    // Whether its KV arrived, or is arriving, through receive().
    bool arrives() const { return arrival_ != nullptr; }

    // K then V of a layer; requires that the chunk is in memory or the layer has arrived.
    uint8_t * layer(int il) { return data_.get() + begin(il); }
    const uint8_t * layer(int il) const { return data_.get() + begin(il); }

    // Supplies the next bytes of the file after its header, in order. Each layer is verified once complete.
    // CHUNK_CORRUPT, which waiting threads get as well.
    void receive(ByteSpan bytes);
    // No more bytes will come. Has no effect if all have arrived or the chunk failed before.
    void fail(const Error & error);
    // Waits until a layer has arrived. Throws ABORTED if `stopped` returns true first, or the error that the arrival
    // failed with.
    void await_layer(int il, const std::function<bool()> & stopped) const;

    // Fills rows [first, first + n) of a layer from f32 [kv_dim, n], each rounded to f16 first.
    void store_rows(int il, size_t first, size_t n, const float * k, const float * v);

    // The chunk's file, opened once and shared by all concurrent holders, who can read it even after it is evicted.
    // CHUNK_CORRUPT if it is gone, CHUNK_UNREADABLE.
    std::shared_ptr<const InputFile> file() const;
    // Reads a layer from `file` (this chunk's file) into dst and verifies its checksum.
    // CHUNK_CORRUPT, CHUNK_UNREADABLE.
    void read_layer(const InputFile & file, int il, uint8_t * dst) const;
    const std::string & path() const { return path_; }
    // The same chunk in another format, from one in f16: the bytes that encoding it in that format gives.
    // CHUNK_CORRUPT, CHUNK_UNREADABLE.
    std::shared_ptr<ChunkKv> converted(KvDtype dtype) const;

    // Reads every layer into memory and verifies the checksums. CHUNK_CORRUPT, CHUNK_UNREADABLE.
    void pull_in();
    // Writes the file; returns its size in bytes. DISK_FULL, STORE_READ_ONLY.
    uint64_t save(const std::string & path) const;

  private:
    uint64_t begin(int il) const { return header_.layer_begins[size_t(il)]; }
    // Compares a layer's checksum. CHUNK_CORRUPT, naming the file.
    void verify(int il, const uint8_t * data, const std::string & name) const;

    ChunkHeader header_;
    std::string path_;
    std::chrono::milliseconds patience_{};
    mutable std::mutex file_mutex_;
    mutable std::weak_ptr<const InputFile> file_;  // guarded by file_mutex_
    std::unique_ptr<uint8_t[]> data_;     // bytes()
    std::atomic<bool> in_memory_{false};  // whether data_ holds the KV
    std::unique_ptr<Arrival> arrival_;    // null unless the chunk arrives
    uint64_t received_ = 0;               // out of bytes()
};

}  // namespace kvasir
