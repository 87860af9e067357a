#include "kv_pool.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "engine/error.h"

namespace kvasir {

namespace {
constexpr int kFirstBlocks = 16;
constexpr int kSpareBlocks = 4;  // after the last one: kernels that read a padded number of keys may overrun
}

KvPool::KvPool(const Weights & weights, const BlockHash & root, KvDtype dtype, KvLayers layers)
    : weights_(weights), root_(root), dtype_(dtype) {
    const Hparams & hp = weights.hparams();
    for (int il = 0; il < hp.n_layer; ++il) {
        const LayerShape & shape = hp.layer(il);
        if (shape.kv_of != il) {
            memory_of_.push_back(memory_of_[size_t(shape.kv_of)]);
            continue;
        }
        Device * device = &weights.device(il);
        const auto there = std::find_if(layers_.begin(), layers_.end(), [&](const Layer & l) {
            return l.device == device && l.kv_dim == shape.kv_dim();
        });
        const bool shared = layers == KvLayers::shared && there != layers_.end();
        memory_of_.push_back(shared ? size_t(there - layers_.begin()) : layers_.size());
        if (shared) continue;
        layers_.emplace_back().device = device;
        layers_.back().kv_dim = shape.kv_dim();
    }
}

size_t KvPool::block_bytes() const {
    size_t bytes = 0;
    for (const Layer & layer : layers_) bytes += 2 * size_t(kKvBlock) * ggml_row_size(dtype_ggml(dtype_), layer.kv_dim);
    return bytes;
}
size_t KvPool::layer_block_bytes(int il) const {
    return 2 * size_t(kKvBlock) * ggml_row_size(dtype_ggml(dtype_), layer(il).kv_dim);
}

int KvPool::budget_blocks() const { return int(std::min<size_t>(budget_ / block_bytes(), INT32_MAX / (2 * kKvBlock))); }

void KvPool::set_budget(size_t bytes) {
    budget_ = bytes;
    while (blocks_.used_count() + blocks_.evictable_count() > budget_blocks() && blocks_.evict()) {}
}

// Padding after the last token is masked, but a NaN in it would survive the mask. Fresh memory holds zeros, and used
// blocks hold finite numbers.
void KvPool::make_tensors(Layer & layer, int blocks) const {
    layer.ctx = make_context(4);
    const int64_t slots = int64_t(blocks + kSpareBlocks) * kKvBlock;
    for (ggml_tensor ** t : {&layer.k, &layer.v}) {
        *t = ggml_new_tensor_2d(layer.ctx.get(), dtype_ggml(dtype_), layer.kv_dim, slots);
    }
    if (!layer.pages.data()) return;
    ggml_backend_tensor_alloc(layer.buffer.get(), layer.k, layer.pages.data());
    ggml_backend_tensor_alloc(layer.buffer.get(), layer.v, layer.pages.data() + layer.pages.size() / 2);
}

// Size of the keys, or of the values, of a layer with `blocks` blocks, aligned as ggml requires.
size_t KvPool::bytes_of(const Layer & layer, int blocks) const {
    return ggml_row_size(dtype_ggml(dtype_), layer.kv_dim) * size_t(blocks + kSpareBlocks) * kKvBlock;
}

KvPool::Layer KvPool::make_layer(const Layer & like, int blocks) const {
    Layer layer;
    Device & device = *like.device;
    layer.device = &device, layer.kv_dim = like.kv_dim;
    if (!device.is_host()) {
        make_tensors(layer, blocks);
        layer.buffer = device.memory().allocate(layer.ctx.get());
        ggml_backend_buffer_clear(layer.buffer.get(), 0);
        return layer;
    }
    layer.pages = Pages(2 * bytes_of(layer, blocks), 2 * bytes_of(layer, std::max(blocks, budget_blocks())));
    BufferPtr buffer(ggml_backend_cpu_buffer_from_ptr(layer.pages.data(), layer.pages.size()));
    layer.buffer = device.memory().wrap(std::move(buffer));
    make_tensors(layer, blocks);
    return layer;
}

// Copies the contents of the old tensors.
void KvPool::move_layer(const Layer & from, Layer & to) const {
    for (auto [old, fresh] : {std::pair(from.k, to.k), std::pair(from.v, to.v)}) {
        if (!to.device->is_host()) {
            ggml_tensor * part = ggml_view_2d(to.ctx.get(), fresh, old->ne[0], old->ne[1], fresh->nb[1], 0);
            ggml_backend_view_init(part);
            ggml_backend_tensor_copy(old, part);
            continue;
        }
        const size_t bytes = size_t(kKvBlock) * old->nb[1];
        for (int id = 0; id < blocks_.size(); ++id) {
            if (blocks_.is_free(id)) continue;
            const size_t at = size_t(id) * bytes;
            std::memcpy(static_cast<uint8_t *>(fresh->data) + at, static_cast<uint8_t *>(old->data) + at, bytes);
        }
    }
}

// If addresses were reserved in advance, nothing moves: otherwise a short question that makes the pool grow would take
// and copy the memory of a long prompt. Grows layer by layer, so that only one layer exists twice. If memory runs out
// midway, the layers moved so far are merely longer.
void KvPool::grow(int blocks) {
    static std::atomic<int64_t> generations{0};
    generation_ = ++generations;
    for (Layer & layer : layers_) {
        if (2 * bytes_of(layer, blocks) <= layer.pages.size()) {
            make_tensors(layer, blocks);
            continue;
        }
        Layer longer = make_layer(layer, blocks);
        if (layer.k) move_layer(layer, longer);
        layer = std::move(longer);
    }
    blocks_.grow(blocks);
}

void KvPool::ensure_free(int blocks) {
    while (blocks_.free_count() < blocks) {
        const int missing = blocks - blocks_.free_count(), size = blocks_.size();
        const int wanted = std::min(std::max({kFirstBlocks, 2 * size, size + missing}), budget_blocks());
        if (wanted > size) grow(wanted);
        else if (!blocks_.evict()) grow(size + std::max(missing, size / 4));
    }
}

int KvPool::allocate(int after) {
    ensure_free(1);
    return blocks_.allocate(after);
}

// Contiguous blocks form one piece of each tensor.
template <typename F> void KvPool::for_each_run(const int32_t * blocks, size_t n, F on_pages) const {
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && blocks[end] == blocks[end - 1] + 1;) ++end;
        for (const Layer & layer : layers_) {
            if (!layer.pages.data()) continue;
            const size_t bytes = size_t(kKvBlock) * layer.k->nb[1];
            for (const ggml_tensor * t : {layer.k, layer.v}) {
                const size_t start = size_t(static_cast<uint8_t *>(t->data) - layer.pages.data());
                on_pages(layer.pages, start + size_t(blocks[i]) * bytes, (end - i) * bytes);
            }
        }
    }
}

void KvPool::advise_huge_pages(const int32_t * blocks, size_t n) const {
    for_each_run(blocks, n,
                 [](const Pages & pages, size_t offset, size_t bytes) { pages.advise_huge_pages(offset, bytes); });
}

void KvPool::prefault(const int32_t * blocks, size_t n) const {
    for_each_run(blocks, n, [](const Pages & pages, size_t offset, size_t bytes) { pages.prefault(offset, bytes); });
}

std::vector<std::pair<BlockHash, int>> KvPool::cached_prefix(const std::vector<int32_t> & tokens) const {
    std::vector<std::pair<BlockHash, int>> out;
    for (size_t at = 0; at + kKvBlock <= tokens.size(); at += kKvBlock) {
        const BlockHash hash = hash_block(out.empty() ? root_ : out.back().first, tokens.data() + at, kKvBlock);
        const int id = blocks_.find(hash, tokens.data() + at, kKvBlock);
        if (id < 0) break;
        out.emplace_back(hash, id);
    }
    return out;
}

void KvPool::read(int id, int il, uint8_t * out) const {
    const size_t bytes = size_t(kKvBlock) * k(il)->nb[1];
    ggml_backend_tensor_get(k(il), out, size_t(id) * bytes, bytes);
    ggml_backend_tensor_get(v(il), out + bytes, size_t(id) * bytes, bytes);
}

void KvPool::write(int id, int il, const uint8_t * in) {
    const size_t bytes = size_t(kKvBlock) * k(il)->nb[1];
    ggml_backend_tensor_set(k(il), in, size_t(id) * bytes, bytes);
    ggml_backend_tensor_set(v(il), in + bytes, size_t(id) * bytes, bytes);
}

void KvPool::copy(int from, int to) {
    std::vector<uint8_t> both;
    for (int il = 0; il < layers(); ++il) {
        both.resize(layer_block_bytes(il));
        read(from, il, both.data());
        write(to, il, both.data());
    }
}

}  // namespace kvasir
