#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/chunks/chunk_kv.h"
#include "engine/chunks/hash.h"
#include "engine/error.h"
#include "targets.h"

namespace kvasir::fuzz {

namespace {

// The code of the error that `body` throws, "" if none.
template <typename F> std::string code_of(F body) {
    try {
        body();
        return "";
    } catch (const Error & e) {
        return e.code;
    }
}

void read_file(const std::string & path) {
    verify_chunk_file(path);
    ChunkKv chunk(path);
    chunk.pull_in();
    const ChunkShape & shape = chunk.shape();
    if (shape.layers.front() == kOpaque) return;
    std::vector<uint16_t> rows;
    for (int il = 0; il < shape.n_layer() && is_packed(shape.dtype); ++il) {
        rows.resize(2 * chunk.n_tokens() * size_t(shape.kv_dim(il)));
        unpack_layer(shape.dtype, shape.layers[size_t(il)], chunk.n_tokens(), chunk.layer(il), rows.data());
    }
    if (shape.dtype == KvDtype::f16) chunk.converted(KvDtype::q4);
}

// The same file as it arrives from another machine.
void receive(const std::vector<uint8_t> & bytes) {
    ChunkHeader header = read_chunk_header({bytes.data(), bytes.size()}, bytes.size(), "fuzzed");
    const size_t begin = header.data_offset, step = 1000;
    ChunkKv chunk(std::move(header));
    for (size_t at = begin; at < bytes.size(); at += step)
        chunk.receive({bytes.data() + at, std::min(step, bytes.size() - at)});
    require(chunk.in_memory(), "a whole file arrived, and the chunk is incomplete");
}

void run(const std::string & path) {
    const InputFile file(path);
    std::vector<uint8_t> bytes(file.size());
    file.read(bytes.data(), bytes.size(), 0);
    const std::string read = code_of([&] { read_file(path); });
    require(read == code_of([&] { receive(bytes); }), "a file and its arrival give different errors");
    require(read.empty() || read == "CHUNK_CORRUPT" || read == "CHUNK_VERSION", "an undocumented error");
}

// Offsets of docs/formats/chunk-kv.md.
void repair(uint8_t * data, size_t size) {
    if (size < 128) return;
    uint32_t version, layers, tokens;
    std::memcpy(&version, data + 8, 4), std::memcpy(&layers, data + 84, 4), std::memcpy(&tokens, data + 96, 4);
    const uint64_t file_bytes = size, rows = version == 2 || version == 3 ? uint64_t(layers) * 8 : 0;
    const uint64_t sums = 128 + uint64_t(tokens) * 4 + rows, own = sums + uint64_t(layers) * 8;
    if (own + 8 > size) return;
    std::memcpy(data + 112, &file_bytes, 8);
    const auto seal = [&] {
        const uint64_t sum = xxh64(data, own);
        std::memcpy(data + own, &sum, 8);
    };
    seal();
    code_of([&] {
        const ChunkHeader header = read_chunk_header({data, size}, size, "fuzzed");
        for (size_t il = 0; il < layers; ++il) {
            const uint64_t begin = header.layer_begins[il], bytes = header.layer_begins[il + 1] - begin;
            const uint64_t sum = xxh64(data + header.data_offset + begin, bytes);
            std::memcpy(data + sums + 8 * il, &sum, 8);
        }
    });
    seal();
}

}  // namespace

const Target chunk{run, repair};

}  // namespace kvasir::fuzz
