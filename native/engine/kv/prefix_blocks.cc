#include "prefix_blocks.h"

#include <algorithm>
#include <cstring>

#include "engine/error.h"

namespace kvasir {

namespace {

ChunkShape prefix_shape(const Model & model) {
    ChunkShape shape = model.chunk_shape(model.kv_pool().dtype(), {});
    shape.prefix_hash = model.kv_pool().root();
    return shape;
}

// Offsets of K and V of a block's tokens in a layer of the file: all keys, then all values.
struct Part {
    size_t k, v, bytes;
};
Part part_of(const ChunkKv & prefix, int il, size_t block) {
    const size_t bytes = kKvBlock * prefix.shape().row_bytes(il);
    return {block * bytes, prefix.layer_bytes(il) / 2 + block * bytes, bytes};
}

}  // namespace

std::shared_ptr<ChunkKv> export_prefix(const Model & model, const std::vector<int32_t> & tokens) {
    const KvPool & pool = model.kv_pool();
    const auto cached = pool.cached_prefix(tokens);
    if (cached.empty()) return nullptr;
    std::vector<int32_t> whole(tokens.begin(), tokens.begin() + std::ptrdiff_t(cached.size() * kKvBlock));
    auto prefix = std::make_shared<ChunkKv>(prefix_shape(model), std::move(whole));
    std::vector<uint8_t> both;
    for (int il = 0; il < pool.layers(); ++il) {
        both.resize(pool.layer_block_bytes(il));
        for (size_t i = 0; i < cached.size(); ++i) {
            pool.read(cached[i].second, il, both.data());
            const Part p = part_of(*prefix, il, i);
            std::memcpy(prefix->layer(il) + p.k, both.data(), p.bytes);
            std::memcpy(prefix->layer(il) + p.v, both.data() + both.size() / 2, p.bytes);
        }
    }
    return prefix;
}

void check_prefix(const Model & model, const ChunkKv & prefix) {
    if (prefix.shape() == prefix_shape(model) && prefix.n_tokens() % kKvBlock == 0) return;
    throw Error("CHUNK_MISMATCH", "A stored prefix was computed by another model or contains no prefix.",
                "Kvasir recomputes it.");
}

void import_prefix(Model & model, const ChunkKv & prefix) {
    check_prefix(model, prefix);
    KvPool & pool = model.kv_pool();
    const auto cached = pool.cached_prefix(prefix.tokens());
    const size_t blocks = prefix.n_tokens() / kKvBlock;
    std::vector<BlockHash> hashes;
    std::vector<int> ids;
    for (size_t i = 0; i < cached.size(); ++i) {
        hashes.push_back(cached[i].first), ids.push_back(cached[i].second), pool.ref(ids.back());
    }
    struct GiveBack {  // tail first
        KvPool & pool;
        std::vector<int> & ids;
        ~GiveBack() {
            for (; !ids.empty(); ids.pop_back()) pool.unref(ids.back());
        }
    } give_back{pool, ids};
    while (ids.size() < blocks) ids.push_back(pool.allocate(ids.empty() ? -1 : ids.back()));

    std::unique_ptr<InputFile> file = prefix.in_memory() ? nullptr : std::make_unique<InputFile>(prefix.path());
    std::vector<uint8_t> layer, both;
    for (int il = 0; il < pool.layers(); ++il) {
        layer.resize(file ? prefix.layer_bytes(il) : 0), both.resize(pool.layer_block_bytes(il));
        if (file) prefix.read_layer(*file, il, layer.data());
        const uint8_t * data = file ? layer.data() : prefix.layer(il);
        for (size_t i = cached.size(); i < blocks; ++i) {
            const Part p = part_of(prefix, il, i);
            std::memcpy(both.data(), data + p.k, p.bytes);
            std::memcpy(both.data() + both.size() / 2, data + p.v, p.bytes);
            pool.write(ids[i], il, both.data());
        }
    }
    for (size_t i = cached.size(); i < blocks; ++i) {
        const int32_t * tokens = prefix.tokens().data() + i * kKvBlock;
        hashes.push_back(hash_block(i == 0 ? pool.root() : hashes.back(), tokens, kKvBlock));
        pool.blocks().cache(ids[i], hashes.back(), {tokens, tokens + kKvBlock});
    }
}

}  // namespace kvasir
