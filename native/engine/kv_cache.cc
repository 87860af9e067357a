#include "kv_cache.h"

#include <algorithm>

#include "error.h"

namespace kvasir {

namespace {
int blocks_of(int positions) { return (positions + kKvBlock - 1) / kKvBlock; }
}

int32_t KvCache::run(int n) const {
    const int blocks = blocks_of(n);
    require(blocks <= int(table_.size()), "a run of positions that have no blocks");
    for (int i = 1; i < blocks; ++i)
        if (table_[size_t(i)] != table_[0] + i) return -1;
    return blocks == 0 ? 0 : table_[0] * kKvBlock;
}

std::vector<uint16_t> KvCache::rows(ggml_tensor * of, int n) const {
    const size_t row = of->nb[1] / sizeof(uint16_t);
    std::vector<uint16_t> out(row * size_t(n));
    for (int p = 0; p < n; p += kKvBlock) {
        const size_t count = size_t(std::min(kKvBlock, n - p));
        ggml_backend_tensor_get(of, out.data() + row * size_t(p), size_t(slot(p)) * of->nb[1], count * of->nb[1]);
    }
    return out;
}

void KvCache::claim(int begin, int end) {
    const int have = int(table_.size()), want = blocks_of(end);
    pool_.make_room(std::max(0, want - have) + 1);
    for (int i = begin / kKvBlock; i < std::min(have, want); ++i) {
        int32_t & id = table_[size_t(i)];
        if (pool_.blocks().writable(id)) continue;
        const int own = pool_.take(i > 0 ? table_[size_t(i) - 1] : -1);
        pool_.copy(id, own);
        pool_.give_back(id);
        id = own;
    }
    while (int(table_.size()) < want) table_.push_back(pool_.take(table_.empty() ? -1 : table_.back()));
}

void KvCache::shrink(int n) {
    while (int(table_.size()) > blocks_of(n)) {
        pool_.give_back(table_.back());
        table_.pop_back();
    }
}

void KvCache::share(const KvCache & other, int n) {
    require(&pool_ == &other.pool_ && table_.empty(), "blocks are shared with an empty session of the same model");
    for (int i = 0; i < blocks_of(n); ++i) adopt(other.table_[size_t(i)]);
}

void KvCache::adopt(int32_t block) {
    pool_.share(block);
    table_.push_back(block);
}

void KvCache::publish(size_t i, const BlockKey & key, std::vector<int32_t> tokens) {
    const int known = pool_.blocks().publish(table_[i], key, std::move(tokens));
    if (known == table_[i]) return;
    pool_.share(known);
    pool_.give_back(table_[i]);
    table_[i] = known;
}

}  // namespace kvasir
