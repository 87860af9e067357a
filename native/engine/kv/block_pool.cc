#include "block_pool.h"

#include <algorithm>

#include "engine/chunks/hash.h"
#include "engine/error.h"

namespace kvasir {

BlockHash hash_block(const BlockHash & parent, const int32_t * tokens, size_t n) {
    Sha256 h;
    h.update(parent.data(), parent.size());
    h.update(tokens, n * sizeof(int32_t));
    return h.digest();
}

void BlockPool::grow(int size) {
    require(size >= this->size(), "a block pool only grows");
    free_ += size - this->size();
    blocks_.resize(size_t(size));
}

// Where a new table has the most room to grow: in the largest run of free blocks, and in its middle if another table
// ends just before it, so that both can grow.
int BlockPool::gap_for_new_table() const {
    int best = -1, best_length = 0;
    for (int id = 0; id < size();) {
        int end = id;
        while (is_free(end)) ++end;
        if (end - id > best_length) best = id, best_length = end - id;
        id = std::max(end, id) + 1;
    }
    const bool neighbour = best > 0 && ref_count(best - 1) > 0;
    return neighbour ? best + best_length / 2 : best;
}

int BlockPool::allocate(int after) {
    const int id = is_free(after + 1) && after >= 0 ? after + 1 : gap_for_new_table();
    if (id < 0) return -1;
    blocks_[size_t(id)].ref_count = 1;
    --free_;
    return id;
}

bool BlockPool::evict() {
    if (evictable_.empty()) return false;
    const int id = evictable_.front();
    evictable_.pop_front();
    by_hash_.erase(blocks_[size_t(id)].hash);
    blocks_[size_t(id)] = {};
    ++free_;
    return true;
}

void BlockPool::ref(int id) {
    Block & b = blocks_[size_t(id)];
    require(b.ref_count > 0 || b.cached, "a free block cannot be shared");
    if (b.ref_count++ == 0) evictable_.erase(b.place);
}

void BlockPool::unref(int id) {
    Block & b = blocks_[size_t(id)];
    require(b.ref_count > 0, "a block is released once per reference");
    if (--b.ref_count > 0) return;
    if (b.cached) b.place = evictable_.insert(evictable_.end(), id);
    else ++free_;
}

int BlockPool::cache(int id, const BlockHash & hash, std::vector<int32_t> tokens) {
    Block & b = blocks_[size_t(id)];
    require(b.ref_count > 0 && !b.cached, "only a referenced block that is not cached yet can be cached");
    const auto [at, is_new] = by_hash_.try_emplace(hash, id);
    if (!is_new) return at->second;
    b.cached = true;
    b.hash = hash;
    b.tokens = std::move(tokens);
    return id;
}

int BlockPool::find(const BlockHash & hash, const int32_t * tokens, size_t n) const {
    const auto at = by_hash_.find(hash);
    if (at == by_hash_.end()) return -1;
    const std::vector<int32_t> & cached = blocks_[size_t(at->second)].tokens;
    return cached.size() == n && std::equal(cached.begin(), cached.end(), tokens) ? at->second : -1;
}

}  // namespace kvasir
