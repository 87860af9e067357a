#include "block_pool.h"

#include <algorithm>

#include "error.h"
#include "hash.h"

namespace kvasir {

BlockKey chain_key(const BlockKey & parent, const int32_t * tokens, size_t n) {
    Sha256 h;
    h.update(parent.data(), parent.size());
    h.update(tokens, n * sizeof(int32_t));
    return h.digest();
}

void BlockPool::grow(int size) {
    require(size >= this->size(), "a pool of blocks only grows");
    free_ += size - this->size();
    blocks_.resize(size_t(size));
}

// Where a new table may grow longest: in the largest run of free blocks, and in its middle where another table ends
// before it, so that both can grow.
int BlockPool::roomiest() const {
    int best = -1, best_length = 0;
    for (int id = 0; id < size();) {
        int end = id;
        while (is_free(end)) ++end;
        if (end - id > best_length) best = id, best_length = end - id;
        id = std::max(end, id) + 1;
    }
    const bool neighbour = best > 0 && refs(best - 1) > 0;
    return neighbour ? best + best_length / 2 : best;
}

int BlockPool::take(int after) {
    const int id = is_free(after + 1) && after >= 0 ? after + 1 : roomiest();
    if (id < 0) return -1;
    blocks_[size_t(id)].refs = 1;
    --free_;
    return id;
}

bool BlockPool::evict() {
    if (kept_.empty()) return false;
    const int id = kept_.front();
    kept_.pop_front();
    known_.erase(blocks_[size_t(id)].key);
    blocks_[size_t(id)] = {};
    ++free_;
    return true;
}

void BlockPool::share(int id) {
    Block & b = blocks_[size_t(id)];
    require(b.refs > 0 || b.known, "a free block cannot be shared");
    if (b.refs++ == 0) kept_.erase(b.place);
}

void BlockPool::give_back(int id) {
    Block & b = blocks_[size_t(id)];
    require(b.refs > 0, "a block is given back once by each that holds it");
    if (--b.refs > 0) return;
    if (b.known) b.place = kept_.insert(kept_.end(), id);
    else ++free_;
}

int BlockPool::publish(int id, const BlockKey & key, std::vector<int32_t> tokens) {
    Block & b = blocks_[size_t(id)];
    require(b.refs > 0 && !b.known, "only a held block that is not known yet can be published");
    const auto [at, is_new] = known_.try_emplace(key, id);
    if (!is_new) return at->second;
    b.known = true;
    b.key = key;
    b.tokens = std::move(tokens);
    return id;
}

int BlockPool::find(const BlockKey & key, const int32_t * tokens, size_t n) const {
    const auto at = known_.find(key);
    if (at == known_.end()) return -1;
    const std::vector<int32_t> & held = blocks_[size_t(at->second)].tokens;
    return held.size() == n && std::equal(held.begin(), held.end(), tokens) ? at->second : -1;
}

}  // namespace kvasir
