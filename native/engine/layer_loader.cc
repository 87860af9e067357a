#include "layer_loader.h"

#include <algorithm>

#include "error.h"

namespace kvasir {

namespace {
double ms_since(Clock::time_point t) { return std::chrono::duration<double, std::milli>(Clock::now() - t).count(); }
}  // namespace

LayerLoader::LayerLoader(std::vector<std::shared_ptr<const ChunkKv>> chunks, int first, int n_layer, LoadPlan plan, Clock::time_point origin)
    : chunks_(std::move(chunks)), first_(first), n_layer_(n_layer), plan_(plan), origin_(origin), released_(first) {
    bool any_file = false;
    for (size_t i = 0; i < chunks_.size(); ++i) {
        files_.emplace_back();
        if (chunks_[i]->in_memory() || first_ >= n_layer_) continue;
        try {
            files_.back() = std::make_unique<InputFile>(chunks_[i]->path());
        } catch (Error & e) {
            e.chunk_index = int(i);
            throw;
        }
        any_file = true;
    }
    if (any_file && !plan.serial) thread_ = std::thread([this] { run(); });
}

LayerLoader::~LayerLoader() {
    {
        std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

// Sleeps until reading `bytes` may have taken its time; in short steps, so that an abort does not wait for it.
void LayerLoader::hold_back(Clock::time_point start, size_t bytes) const {
    if (plan_.bytes_per_second <= 0) return;
    const auto until = start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(double(bytes) / plan_.bytes_per_second));
    for (auto left = until - Clock::now(); left > Clock::duration::zero() && !stop_; left = until - Clock::now()) {
        std::this_thread::sleep_for(std::min<Clock::duration>(left, std::chrono::milliseconds(10)));
    }
}

void LayerLoader::load(int il, Slot & slot) {
    const auto start = Clock::now();
    slot.loaded.start_ms = ms_since(origin_);
    slot.loaded.bytes = 0;
    size_t need = 0;
    for (size_t i = 0; i < chunks_.size(); ++i)
        if (files_[i]) need += chunks_[i]->layer_bytes();
    slot.storage.resize(need);
    slot.loaded.chunks.clear();
    uint8_t * at = slot.storage.data();
    for (size_t i = 0; i < chunks_.size(); ++i) {
        if (!files_[i]) {
            slot.loaded.chunks.push_back(chunks_[i]->layer(il));
            continue;
        }
        try {
            chunks_[i]->read_layer(*files_[i], il, at);
        } catch (Error & e) {
            e.chunk_index = int(i);
            throw;
        }
        slot.loaded.chunks.push_back(at);
        at += chunks_[i]->layer_bytes();
    }
    slot.loaded.bytes = need;
    hold_back(start, need);
    slot.loaded.end_ms = ms_since(origin_);
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
            slot.layer = il;
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
        if (!slot.loaded.bytes) slot.loaded.start_ms = slot.loaded.end_ms = 0;  // all in memory
        return slot.loaded;
    }
    std::unique_lock lock(mutex_);
    released_ = il;
    changed_.notify_all();
    changed_.wait(lock, [&] { return slot.layer == il || failure_; });
    if (failure_) std::rethrow_exception(failure_);
    return slot.loaded;
}

}  // namespace kvasir
