#include "chunk_kv.h"

#include <algorithm>
#include <cstring>

#include "engine/error.h"
#include "engine/kernels/convert.h"
#include "hash.h"

namespace kvasir {

namespace {

constexpr char kMagic[8] = {'K', 'V', 'A', 'S', 'I', 'R', 'K', 'V'};
// Versions: one row size for all layers, one per layer, one per layer with a packed format, or bytes without rows.
constexpr uint32_t kAlike = 1, kByLayer = 2, kPacked = 3, kBytes = 4;
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

bool has_rows(uint32_t version) { return version == kByLayer || version == kPacked; }

// Offsets in a header after its fixed part: token ids, in versions 2 and 3 the layers' row sizes, layer checksums,
// checksum of everything before it.
struct Parts {
    size_t rows, checksums, checksum, end;
};
Parts parts_of(uint32_t version, size_t n_tokens, size_t n_layer) {
    Parts p{};
    p.rows = sizeof(Fixed) + 4 * n_tokens;
    p.checksums = p.rows + (has_rows(version) ? sizeof(KvRow) * n_layer : 0);
    p.checksum = p.checksums + 8 * n_layer;
    p.end = p.checksum + 8;
    return p;
}
static_assert(sizeof(KvRow) == 8);

bool in_range(const KvRow & row) {
    return row.head_dim <= kMaxKvDim && row.n_head_kv <= kMaxKvDim && row.size() > 0 && row.size() <= kMaxKvDim &&
           row.size() % 32 == 0;
}

// Offsets of the layers, and the end of the last one.
std::vector<uint64_t> begins_of(const ChunkShape & shape, size_t n_tokens) {
    std::vector<uint64_t> out{0};
    for (const KvRow & row : shape.layers) out.push_back(out.back() + layer_bytes(shape.dtype, row, n_tokens));
    return out;
}

size_t padded(size_t n) { return (n + kPage - 1) / kPage * kPage; }

[[noreturn]] void corrupt(const std::string & path, const std::string & why) {
    throw Error("CHUNK_CORRUPT", "The chunk file " + path + " is damaged: " + why + ".",
                "Kvasir recomputes it when it is needed.");
}

}  // namespace

Digest hash_tokens(const std::vector<int32_t> & tokens) {
    Sha256 sha;
    sha.update(tokens.data(), tokens.size() * sizeof(int32_t));
    return sha.digest();
}

namespace {

// `beginning(n)` returns the first n bytes; the file has at least that many.
using Beginning = std::function<std::vector<uint8_t>(size_t n)>;

ChunkHeader parse_header(uint64_t file_bytes, const std::string & path, const Beginning & beginning) {
    Fixed f;
    if (file_bytes < sizeof f) corrupt(path, "it is shorter than a header");
    std::memcpy(&f, beginning(sizeof f).data(), sizeof f);
    if (std::memcmp(f.magic, kMagic, sizeof kMagic) != 0) corrupt(path, "it is not a chunk file");
    if (f.version > kBytes) {
        throw Error("CHUNK_VERSION",
                    "The chunk file " + path + " was written by a newer version of Kvasir (format " +
                        std::to_string(f.version) + ").",
                    "Update Kvasir to use it; the file was not changed.");
    }
    const KvRow row{f.n_head_kv, f.head_dim};
    if (f.version == 0 || f.dtype > uint32_t(KvDtype::q4) || is_packed(KvDtype(f.dtype)) != (f.version == kPacked) ||
        f.n_layer == 0 || f.n_layer > kMaxLayers || f.n_tokens == 0 || f.n_tokens > kMaxTokens ||
        (f.version == kAlike && !in_range(row)) ||
        (f.version == kBytes && (f.n_layer != 1 || row != kOpaque || f.layer_bytes == 0))) {
        corrupt(path, "its header is out of range");
    }
    const Parts parts = parts_of(f.version, f.n_tokens, f.n_layer);
    if (f.header_bytes != padded(parts.end) || f.header_bytes > file_bytes) {
        corrupt(path, "its size does not match its header");
    }
    const std::vector<uint8_t> all = beginning(parts.end);
    uint64_t stored;
    std::memcpy(&stored, all.data() + parts.checksum, 8);
    if (stored != xxh64(all.data(), parts.checksum)) corrupt(path, "its header checksum does not match");
    ChunkHeader h;
    h.version = f.version;
    std::memcpy(h.shape.fingerprint.data(), f.fingerprint, 32);
    std::memcpy(h.shape.prefix_hash.data(), f.prefix_hash, 32);
    h.shape.dtype = KvDtype(f.dtype);
    h.shape.n_vocab = f.n_vocab;
    h.shape.layers.resize(f.n_layer, row);
    if (has_rows(f.version)) std::memcpy(h.shape.layers.data(), all.data() + parts.rows, sizeof(KvRow) * f.n_layer);
    for (const KvRow & r : h.shape.layers)
        if (f.version != kBytes && !in_range(r)) corrupt(path, "its header is out of range");
    if (f.version == kBytes) h.layer_begins = {0, f.layer_bytes};
    else h.layer_begins = begins_of(h.shape, f.n_tokens);
    const uint64_t layer_bytes = has_rows(f.version) ? 0 : h.layer_begins[1];
    if (f.layer_bytes != layer_bytes || file_bytes < f.header_bytes ||
        file_bytes - f.header_bytes != h.layer_begins.back() || f.file_bytes != file_bytes) {
        corrupt(path, "its size does not match its header");
    }
    h.tokens.resize(f.n_tokens);
    std::memcpy(h.tokens.data(), all.data() + sizeof(Fixed), 4 * size_t(f.n_tokens));
    h.layer_checksums.resize(f.n_layer);
    std::memcpy(h.layer_checksums.data(), all.data() + parts.checksums, 8 * size_t(f.n_layer));
    h.data_offset = f.header_bytes;
    h.file_bytes = f.file_bytes;
    return h;
}

}  // namespace

ChunkHeader read_chunk_header(const InputFile & file, const std::string & path) {
    return parse_header(file.size(), path, [&](size_t n) {
        std::vector<uint8_t> out(n);
        file.read(out.data(), n, 0);
        return out;
    });
}

ChunkHeader read_chunk_header(ByteSpan beginning, uint64_t file_bytes, const std::string & name) {
    return parse_header(file_bytes, name, [&](size_t n) {
        if (n > beginning.size) corrupt(name, "its header is truncated");
        const auto * data = static_cast<const uint8_t *>(beginning.data);
        return std::vector<uint8_t>(data, data + n);
    });
}

void verify_chunk_file(const std::string & path) {
    ChunkKv chunk(path);
    const InputFile file(path);
    std::vector<uint8_t> layer;
    for (int il = 0; il < chunk.shape().n_layer(); ++il) {
        layer.resize(chunk.layer_bytes(il));
        chunk.read_layer(file, il, layer.data());
    }
}

ChunkKv::ChunkKv(ChunkShape shape, std::vector<int32_t> tokens) {
    header_.shape = std::move(shape);
    header_.tokens = std::move(tokens);
    header_.layer_begins = begins_of(header_.shape, n_tokens());
    data_ = std::make_unique_for_overwrite<uint8_t[]>(bytes());
    in_memory_ = true;
}

ChunkKv::ChunkKv(ChunkShape shape, std::vector<int32_t> tokens, const std::vector<uint8_t> & opaque) {
    require(shape.layers == std::vector<KvRow>{kOpaque} && !opaque.empty(), "an opaque chunk has one layer of bytes");
    header_.shape = std::move(shape);
    header_.tokens = std::move(tokens);
    header_.layer_begins = {0, opaque.size()};
    data_ = std::make_unique_for_overwrite<uint8_t[]>(bytes());
    std::copy(opaque.begin(), opaque.end(), data_.get());
    in_memory_ = true;
}

std::string chunk_key(const ChunkShape & shape, const std::vector<int32_t> & tokens) {
    Sha256 sha;
    const auto field = [&](const void * data, size_t size) {
        const uint64_t length = size;  // before the content, so that no two lists of fields yield the same bytes
        sha.update(&length, sizeof length);
        sha.update(data, size);
    };
    const auto text = [&](const std::string & s) { field(s.data(), s.size()); };
    text("kvasir/chunk/1");
    text(to_hex(shape.fingerprint));
    text(to_hex(shape.prefix_hash));
    text(dtype_name(shape.dtype));
    field(tokens.data(), tokens.size() * sizeof(int32_t));
    return to_hex(sha.digest());
}

ChunkKv::ChunkKv(const std::string & path, std::chrono::milliseconds patience) : path_(path), patience_(patience) {
    header_ = read_chunk_header(InputFile(path, patience), path);
}

ChunkKv::ChunkKv(ChunkHeader header) : header_(std::move(header)), arrival_(std::make_unique<Arrival>()) {
    data_ = std::make_unique_for_overwrite<uint8_t[]>(bytes());
}

void ChunkKv::receive(ByteSpan part) {
    require(arrives() && part.size <= bytes() - received_, "more bytes arrived than the chunk has");
    const uint64_t before = received_;
    if (part.size) std::memcpy(data_.get() + before, part.data, part.size);
    received_ += part.size;
    for (int il = 0; il < shape().n_layer(); ++il) {
        if (begin(il + 1) <= before || begin(il + 1) > received_) continue;
        try {
            verify(il, layer(il), "of a shared cache");
        } catch (const Error & e) {
            fail(e);
            throw;
        }
        if (received_ == bytes() && il + 1 == shape().n_layer()) in_memory_ = true;
        arrival_->layer_came();
    }
}

void ChunkKv::fail(const Error & error) {
    if (arrival_ && !in_memory()) arrival_->fail(error);
}

void ChunkKv::await_layer(int il, const std::function<bool()> & stopped) const { arrival_->wait(il, stopped); }

void ChunkKv::store_rows(int il, size_t first, size_t n, const float * k, const float * v) {
    kvasir::store_rows(shape().dtype, shape().layers[size_t(il)], n_tokens(), layer(il), first, n, k, v);
}

std::shared_ptr<ChunkKv> ChunkKv::converted(KvDtype dtype) const {
    require(shape().dtype == KvDtype::f16, "only a chunk in f16 can be converted");
    ChunkShape to = shape();
    to.dtype = dtype;
    auto out = std::make_shared<ChunkKv>(std::move(to), tokens());
    const std::shared_ptr<const InputFile> source = in_memory() ? nullptr : file();
    std::vector<uint8_t> read;
    std::vector<float> k, v;
    for (int il = 0; il < shape().n_layer(); ++il) {
        read.resize(source ? layer_bytes(il) : 0);
        if (source) read_layer(*source, il, read.data());
        const auto * rows = reinterpret_cast<const uint16_t *>(source ? read.data() : layer(il));
        const size_t half = n_tokens() * size_t(shape().kv_dim(il));
        k.resize(half), v.resize(half);
        f16_to_f32(rows, k.data(), half), f16_to_f32(rows + half, v.data(), half);
        out->store_rows(il, 0, n_tokens(), k.data(), v.data());
    }
    return out;
}

std::shared_ptr<const InputFile> ChunkKv::file() const {
    std::lock_guard lock(file_mutex_);
    std::shared_ptr<const InputFile> file = file_.lock();
    if (!file) file_ = file = std::make_shared<const InputFile>(path_, patience_);
    return file;
}

void ChunkKv::read_layer(const InputFile & file, int il, uint8_t * dst) const {
    file.read(dst, layer_bytes(il), header_.data_offset + begin(il));
    verify(il, dst, path_);
}

void ChunkKv::verify(int il, const uint8_t * data, const std::string & name) const {
    if (xxh64(data, layer_bytes(il)) == header_.layer_checksums[size_t(il)]) return;
    corrupt(name, "the checksum of layer " + std::to_string(il) + " does not match");
}

void ChunkKv::pull_in() {
    if (in_memory()) return;
    const InputFile file(path_, patience_);
    auto data = std::make_unique_for_overwrite<uint8_t[]>(bytes());
    for (int il = 0; il < shape().n_layer(); ++il) read_layer(file, il, data.get() + begin(il));
    data_ = std::move(data);
    in_memory_ = true;
}

uint64_t ChunkKv::save(const std::string & path) const {
    require(in_memory(), "only a chunk in memory can be saved");
    const std::vector<KvRow> & rows = shape().layers;
    const bool alike = std::all_of(rows.begin(), rows.end(), [&](const KvRow & r) { return r == rows.front(); });
    const uint32_t version = rows.front() == kOpaque     ? kBytes
                             : is_packed(shape().dtype) ? kPacked
                             : alike                    ? kAlike
                                                        : kByLayer;
    const Parts parts = parts_of(version, n_tokens(), rows.size());
    std::vector<uint8_t> header(padded(parts.end));
    Fixed f{};
    std::memcpy(f.magic, kMagic, sizeof kMagic);
    f.version = version;
    f.header_bytes = uint32_t(header.size());
    std::memcpy(f.fingerprint, shape().fingerprint.data(), 32);
    std::memcpy(f.prefix_hash, shape().prefix_hash.data(), 32);
    f.dtype = uint32_t(shape().dtype), f.n_layer = uint32_t(rows.size());
    f.n_tokens = uint32_t(n_tokens()), f.n_vocab = shape().n_vocab;
    if (!has_rows(version)) {
        f.n_head_kv = rows[0].n_head_kv, f.head_dim = rows[0].head_dim, f.layer_bytes = layer_bytes(0);
    }
    f.file_bytes = header.size() + bytes();
    std::memcpy(header.data(), &f, sizeof f);
    std::memcpy(header.data() + sizeof f, tokens().data(), 4 * n_tokens());
    if (has_rows(version)) std::memcpy(header.data() + parts.rows, rows.data(), sizeof(KvRow) * rows.size());
    for (int il = 0; il < shape().n_layer(); ++il) {
        const uint64_t sum = xxh64(layer(il), layer_bytes(il));
        std::memcpy(header.data() + parts.checksums + 8 * size_t(il), &sum, 8);
    }
    const uint64_t whole = xxh64(header.data(), parts.checksum);
    std::memcpy(header.data() + parts.checksum, &whole, 8);
    write_file_durably(path, {{header.data(), header.size()}, {data_.get(), bytes()}});
    return f.file_bytes;
}

}  // namespace kvasir
