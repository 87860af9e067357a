#include "layer_loader.h"

#include <algorithm>
#include <set>

#include "engine/error.h"
#include "staging_buffer.h"

namespace kvasir {

namespace {
void finish(StagingBuffer * staging) { staging->finish(); }
}  // namespace

LayerLoader::LayerLoader(std::vector<Wanted> chunks, int first, const Weights & weights, LoadOptions options,
                         Clock::time_point origin, const std::atomic<bool> * abort)
    : chunks_(std::move(chunks)),
      files_(chunks_.size()),
      arriving_(chunks_.size()),
      weights_(weights),
      first_(first),
      n_layer_(weights.hparams().n_layer_kv),
      options_(options),
      origin_(origin),
      abort_(abort),
      released_(first) {
    if (first_ >= n_layer_ || chunks_.empty()) return;
    open_files();
    const bool staged = reserve_staging();
    const bool far = std::find(arriving_.begin(), arriving_.end(), true) != arriving_.end();
    if ((most_host_bytes_ || staged || far) && !options.serial) thread_ = std::thread([this] { run(); });
}

// Null if the layer has to be loaded.
ggml_tensor * LayerLoader::there(size_t i, int il) const {
    return chunks_[i].there.empty() ? nullptr : chunks_[i].there[size_t(il)];
}

void LayerLoader::open_files() {
    for (size_t i = 0; i < chunks_.size(); ++i) {
        int il = first_;
        while (il < n_layer_ && there(i, il)) ++il;
        if (il == n_layer_ || chunks_[i].chunk->in_memory()) continue;
        arriving_[i] = chunks_[i].chunk->arrives();
        if (arriving_[i]) continue;
        try {
            files_[i] = chunks_[i].chunk->file();
        } catch (Error & e) {
            e.chunk_index = chunks_[i].segment;
            throw;
        }
    }
    size_t packed = 0;
    for (int il = first_; il < n_layer_; ++il) {
        most_host_bytes_ = std::max(most_host_bytes_, host_bytes(il));
        for (size_t i = 0; i < chunks_.size(); ++i)
            if (files_[i] && is_packed(dtype(i))) packed = std::max(packed, chunks_[i].chunk->layer_bytes(il));
    }
    if (packed) packed_ = std::make_unique_for_overwrite<uint8_t[]>(packed);
}

// Bytes of one layer of all chunks that are read from files.
size_t LayerLoader::file_bytes(int il) const {
    size_t bytes = 0;
    for (size_t i = 0; i < chunks_.size(); ++i)
        if (files_[i] && !there(i, il)) bytes += chunks_[i].chunk->layer_bytes(il);
    return bytes;
}

// The same for chunks that arrive from elsewhere.
size_t LayerLoader::arriving_bytes(int il) const {
    size_t bytes = 0;
    for (size_t i = 0; i < chunks_.size(); ++i)
        if (arriving_[i] && !there(i, il)) bytes += chunks_[i].chunk->layer_bytes(il);
    return bytes;
}

// The same for rows copied to another device, whether read from files or not.
size_t LayerLoader::crossing_bytes(int il) const {
    size_t bytes = 0;
    for (size_t i = 0; i < chunks_.size() && !weights_.device(il).is_host(); ++i)
        if (!there(i, il)) bytes += chunks_[i].chunk->placed_bytes(il);
    return bytes;
}

// The same for memory of the host that rows are read or unpacked into.
size_t LayerLoader::host_bytes(int il) const {
    size_t bytes = 0;
    for (size_t i = 0; i < chunks_.size(); ++i)
        if ((files_[i] || is_packed(dtype(i))) && !there(i, il)) bytes += chunks_[i].chunk->placed_bytes(il);
    return bytes;
}

// Returns whether any layer has to be copied to another device.
bool LayerLoader::reserve_staging() {
    StagingBuffer::Size size;
    size.host_bytes = most_host_bytes_;
    for (size_t i = 0; i < chunks_.size(); ++i) {
        const ChunkKv & chunk = *chunks_[i].chunk;
        int64_t & rows = placed_dtype(dtype(i)) == KvDtype::f16 ? size.f16_rows : size.q8_0_rows;
        first_rows_.push_back(rows);
        for (int il = first_; il < n_layer_; ++il) {
            if (weights_.device(il).is_host() || there(i, il)) continue;
            rows += int64_t(2 * chunk.n_tokens());
            break;
        }
    }
    std::set<int64_t> kv_dims;
    for (const LayerShape & layer : weights_.hparams().layers) kv_dims.insert(layer.kv_dim());
    bool any = false;
    for (int il = first_; il < n_layer_; ++il) {
        if (!staging_buffer(il)) continue;
        staging_buffer(il)->reserve(kv_dims, size);
        any = true;
    }
    return any;
}

// Null if nothing is copied to another device.
StagingBuffer * LayerLoader::staging_buffer(int il) const {
    return crossing_bytes(il) ? &weights_.device(il).staging_buffer() : nullptr;
}

LayerLoader::~LayerLoader() {
    {
        std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

// Sleeps until reading `bytes` would have taken its time at the limited speed, in short steps so that an abort takes
// effect quickly.
void LayerLoader::throttle(Clock::time_point start, size_t bytes) const {
    if (options_.bytes_per_second <= 0) return;
    const std::chrono::duration<double> seconds(double(bytes) / options_.bytes_per_second);
    const auto until = start + std::chrono::duration_cast<Clock::duration>(seconds);
    for (auto left = until - Clock::now(); left > Clock::duration::zero() && !stopped(); left = until - Clock::now()) {
        std::this_thread::sleep_for(std::min<Clock::duration>(left, std::chrono::milliseconds(10)));
    }
}

void LayerLoader::load(int il, Slot & slot) {
    const auto start = Clock::now();
    slot.loaded.start_ms = ms_since(origin_);
    load_chunks(il, slot);
    slot.loaded.bytes = file_bytes(il) + arriving_bytes(il);
    slot.loaded.crossed = crossing_bytes(il);
    throttle(start, file_bytes(il));
    slot.loaded.end_ms = ms_since(origin_);
}

void LayerLoader::load_chunks(int il, Slot & slot) {
    StagingBuffer * staging = staging_buffer(il);
    const int half = il % 2;
    // At the end, and also when a file turns out to be damaged, since chunks being copied may be destroyed after that.
    const std::unique_ptr<StagingBuffer, Deleter<finish>> until_arrived(staging);
    if (!staging && !slot.storage && most_host_bytes_ > 0) {
        slot.storage = std::make_unique_for_overwrite<uint8_t[]>(most_host_bytes_);
    }
    uint8_t * at = staging ? staging->host(half) : slot.storage.get();
    slot.loaded.chunks.clear();
    for (size_t i = 0; i < chunks_.size(); ++i) {
        if (ggml_tensor * rows = there(i, il)) {
            slot.loaded.chunks.push_back({nullptr, rows, 0});
            continue;
        }
        const ChunkKv & chunk = *chunks_[i].chunk;
        const bool packed = is_packed(dtype(i));
        const uint8_t * data = bring(i, il, packed ? packed_.get() : at);
        if (packed) {
            unpack_layer(dtype(i), chunk.shape().layers[size_t(il)], chunk.n_tokens(), data,
                         reinterpret_cast<uint16_t *>(at));
            data = at;
        }
        if (files_[i] || packed) at += chunk.placed_bytes(il);
        StoredLayer stored{data};
        if (staging) {
            const int64_t kv_dim = chunk.shape().kv_dim(il);
            staging->copy(half, placed_dtype(dtype(i)), kv_dim, first_rows_[i], data, 2 * chunk.n_tokens());
            stored = {nullptr, staging->rows(half, placed_dtype(dtype(i)), kv_dim), first_rows_[i]};
        }
        slot.loaded.chunks.push_back(stored);
    }
}

const uint8_t * LayerLoader::bring(size_t i, int il, uint8_t * to) const {
    const ChunkKv & chunk = *chunks_[i].chunk;
    try {
        if (files_[i]) return chunk.read_layer(*files_[i], il, to), to;
        if (arriving_[i]) chunk.await_layer(il, [&] { return stopped(); });
        return chunk.layer(il);
    } catch (Error & e) {
        if (e.code != "ABORTED") e.chunk_index = chunks_[i].segment;
        throw;
    }
}

void LayerLoader::run() {
    for (int il = first_; il < n_layer_; ++il) {
        Slot & slot = slots_[il % 2];
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return stop_ || il < released_ + 2; });
            if (stop_) return;
        }
        std::exception_ptr failure;
        try {
            load(il, slot);
        } catch (...) {
            failure = std::current_exception();
        }
        {
            std::lock_guard lock(mutex_);
            if (!failure) slot.layer = il;
            failure_ = failure;
        }
        changed_.notify_all();
        if (failure) return;
    }
}

const LayerLoader::Loaded & LayerLoader::wait(int il) {
    Slot & slot = slots_[il % 2];
    if (!thread_.joinable()) {
        load(il, slot);
        // Nothing had to be loaded or copied.
        if (!slot.loaded.bytes && !slot.loaded.crossed) slot.loaded.start_ms = slot.loaded.end_ms = 0;
        return slot.loaded;
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return slot.layer == il || failure_; });
    if (slot.layer != il) std::rethrow_exception(failure_);
    return slot.loaded;
}

bool LayerLoader::is_far(int il) {
    std::lock_guard lock(mutex_);
    return thread_.joinable() && arriving_bytes(il) > 0 && slots_[il % 2].layer != il && !failure_;
}

void LayerLoader::release(int il) {
    {
        std::lock_guard lock(mutex_);
        released_ = il + 1;
    }
    changed_.notify_all();
}

}  // namespace kvasir
