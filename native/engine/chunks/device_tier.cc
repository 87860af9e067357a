#include "device_tier.h"

#include <algorithm>

#include "engine/error.h"

namespace kvasir {

namespace {
// Number of chunks whose last use is remembered; most chunks that recur do so within a few dozen questions.
constexpr size_t kRemembered = 1024;
}  // namespace

std::vector<ggml_tensor *> DeviceTier::Chunk::placeable() const {
    std::vector<ggml_tensor *> out;
    for (size_t il = 0; il < rows.size(); ++il) out.push_back(filled[il] ? rows[il] : nullptr);
    return out;
}

DeviceTier::DeviceTier(const Weights & weights, const KvPool & sessions) : weights_(weights), sessions_(sessions) {
    // All layers that are not on the host are on the same device.
    for (int il = 0; il < weights.hparams().n_layer_kv; ++il)
        if (!weights.device(il).is_host()) device_ = &weights.device(il);
    if (!device_) return;
    device_->memory().on_shortage([this] { return evict_one(); });
    tell();
}

DeviceTier::~DeviceTier() {
    if (device_) device_->memory().on_shortage(nullptr);
}

void DeviceTier::set_budget(std::optional<size_t> bytes_allowed) {
    if (!device_) return;
    budget_ = bytes_allowed;
    while (bytes() > limit() && evict_one()) {}
    tell();
}

bool DeviceTier::clear() {
    bool any = false;
    while (evict_one()) any = true;
    return any;
}

size_t DeviceTier::bytes() const {
    size_t sum = 0;
    for (const auto & [key, known] : known_) sum += known.chunk ? known.chunk->bytes() : 0;
    return sum;
}

// Never uses memory that passes or sessions may still need: drivers rarely report in time that memory runs out; they
// slow down or abort the process instead.
size_t DeviceTier::limit() const {
    const size_t taken = size_t(sessions_.blocks().size()) * sessions_.block_bytes();
    const size_t sessions = sessions_.budget() > taken ? sessions_.budget() - taken : 0;
    const size_t spare = spare_memory(device_->dev());
    const size_t room = bytes() + (spare > sessions ? spare - sessions : 0);
    return budget_ ? std::min(*budget_, room) : room / 2;
}

// Evicts the least recently used chunk that nobody holds.
bool DeviceTier::evict_one() {
    Entry oldest = known_.end();
    for (Entry e = known_.begin(); e != known_.end(); ++e) {
        if (!e->second.chunk || e->second.chunk.use_count() > 1) continue;
        if (oldest == known_.end() || e->second.used < oldest->second.used) oldest = e;
    }
    if (oldest == known_.end()) return false;
    known_.erase(oldest);
    tell();
    return true;
}

bool DeviceTier::make_room(size_t needed) {
    const size_t most = limit();
    size_t held = 0;
    for (const auto & [key, known] : known_)
        if (known.chunk && known.chunk.use_count() > 1) held += known.chunk->bytes();
    if (held + needed > most) return false;
    while (bytes() + needed > most && evict_one()) {}
    return true;
}

// Null if there is no room for it.
std::shared_ptr<DeviceTier::Chunk> DeviceTier::admit(const ChunkKv & chunk) {
    auto out = std::make_shared<Chunk>();
    const ChunkShape & shape = chunk.shape();
    out->checksums = chunk.checksums();
    out->ctx = make_context(size_t(shape.n_layer()));
    for (int il = 0; il < shape.n_layer(); ++il) {
        const bool here = !weights_.device(il).is_host();
        out->rows.push_back(here ? ggml_new_tensor_2d(out->ctx.get(), dtype_ggml(shape.dtype), shape.kv_dim(il),
                                                      int64_t(2 * chunk.n_tokens()))
                                 : nullptr);
    }
    out->filled.resize(out->rows.size());
    ggml_backend_buffer_type_t type = device_->memory().type();
    if (!make_room(ggml_backend_alloc_ctx_tensors_from_buft_size(out->ctx.get(), type))) return nullptr;
    // Bypasses DeviceMemory: when memory is short, nothing should be evicted for a copy that only saves time later.
    out->memory.reset(ggml_backend_alloc_ctx_tensors_from_buft(out->ctx.get(), type));
    return out->memory ? out : nullptr;
}

std::vector<std::shared_ptr<DeviceTier::Chunk>> DeviceTier::use(
    const std::vector<std::shared_ptr<const ChunkKv>> & chunks) {
    std::vector<std::shared_ptr<Chunk>> out(chunks.size());
    if (!device_ || chunks.empty() || budget_ == 0) return out;
    ++now_;
    // Chunks already on the device come first: making room must not evict what the same prompt places.
    std::vector<std::pair<size_t, Known *>> again;
    for (size_t i = 0; i < chunks.size(); ++i) {
        if (chunks[i]->checksums().empty()) continue;  // not in a file
        Known & known = known_[chunks[i]->key()];
        if (known.chunk && known.chunk->checksums != chunks[i]->checksums()) known = {};
        if (known.used && known.used < now_) again.emplace_back(i, &known);
        known.used = now_;
        out[i] = known.chunk;
    }
    for (auto [i, known] : again) {
        if (!known->chunk) known->chunk = admit(*chunks[i]);
        out[i] = known->chunk;
    }
    forget_old();
    tell();
    return out;
}

void DeviceTier::forget_old() {
    while (known_.size() > kRemembered) {
        Entry oldest = known_.end();
        for (Entry e = known_.begin(); e != known_.end(); ++e)
            if (!e->second.chunk && (oldest == known_.end() || e->second.used < oldest->second.used)) oldest = e;
        if (oldest == known_.end()) return;
        known_.erase(oldest);
    }
}

void DeviceTier::fill(Chunk & to, int il, const StoredLayer & staged) {
    const auto at = size_t(il);
    if (!to.rows[at] || to.filled[at]) return;
    const ggml_tensor * rows = to.rows[at];
    ContextPtr ctx = make_context(1);
    ggml_tensor * part = ggml_view_2d(ctx.get(), staged.rows, rows->ne[0], rows->ne[1], rows->nb[1],
                                      size_t(staged.first) * rows->nb[1]);
    ggml_backend_view_init(part);
    ggml_backend_tensor_copy(part, to.rows[at]);
    to.filled[at] = true;
    if (at + 1 == to.rows.size()) tell();
}

bool DeviceTier::holds(const std::string & key) const {
    std::lock_guard lock(mutex_);
    return whole_.contains(key);
}

DeviceTier::Usage DeviceTier::usage() const {
    std::lock_guard lock(mutex_);
    return usage_;
}

void DeviceTier::tell() {
    size_t free = 0;
    Usage usage{bytes(), limit(), 0, 0};
    ggml_backend_dev_memory(device_->dev(), &free, &usage.total);
    std::set<std::string> whole;
    for (const auto & [key, known] : known_) {
        if (!known.chunk) continue;
        ++usage.chunks;
        // Layers are filled in order, and if the first layer is on the device, all are.
        if (known.chunk->filled.back() && known.chunk->rows.front()) whole.insert(key);
    }
    std::lock_guard lock(mutex_);
    usage_ = usage, whole_ = std::move(whole);
}

}  // namespace kvasir
