#include "kv_cache.h"

#include <algorithm>

#include "engine/error.h"
#include "engine/kernels/convert.h"

namespace kvasir {

namespace {
int blocks_of(int positions) { return (positions + kKvBlock - 1) / kKvBlock; }
}

int32_t KvCache::first_row(int n) const {
    const int blocks = blocks_of(n);
    require(blocks <= int(table_.size()), "a range of positions that have no blocks");
    for (int i = 1; i < blocks; ++i)
        if (table_[size_t(i)] != table_[0] + i) return -1;
    return blocks == 0 ? 0 : table_[0] * kKvBlock;
}

std::vector<float> KvCache::rows(const ggml_tensor * of, int begin, int count) const {
    std::vector<uint8_t> bytes(of->nb[1] * size_t(count));
    for (int p = begin; p < begin + count;) {
        const int n = std::min(kKvBlock - p % kKvBlock, begin + count - p);
        uint8_t * to = bytes.data() + of->nb[1] * size_t(p - begin);
        ggml_backend_tensor_get(of, to, size_t(slot(p)) * of->nb[1], size_t(n) * of->nb[1]);
        p += n;
    }
    std::vector<float> out(size_t(of->ne[0]) * size_t(count));
    kv_to_f32(dtype(), bytes.data(), out.data(), out.size());
    return out;
}

int KvCache::missing(int begin, int end) const {
    const int have = int(table_.size()), want = blocks_of(end);
    int out = std::max(0, want - have);
    for (int i = begin / kKvBlock; i < std::min(have, want); ++i) {
        out += !pool_.blocks().writable(table_[size_t(i)]);
    }
    return out;
}

void KvCache::allocate(int begin, int end) {
    const int have = int(table_.size()), want = blocks_of(end);
    pool_.ensure_free(missing(begin, end));
    for (int i = begin / kKvBlock; i < std::min(have, want); ++i) {
        int32_t & id = table_[size_t(i)];
        if (pool_.blocks().writable(id)) continue;
        const int own = pool_.allocate(i > 0 ? table_[size_t(i) - 1] : -1);
        pool_.copy(id, own);
        pool_.unref(id);
        id = own;
    }
    while (int(table_.size()) < want) table_.push_back(pool_.allocate(table_.empty() ? -1 : table_.back()));
}

// Whole blocks only: those at the edges may be partly filled.
void KvCache::advise_huge_pages(int begin, int end) const {
    const int first = blocks_of(begin), last = end / kKvBlock;
    if (first < last) pool_.advise_huge_pages(table_.data() + first, size_t(last - first));
}

void KvCache::prefault(int begin, int end) const {
    advise_huge_pages(begin, end);
    const int first = begin / kKvBlock, last = blocks_of(end);
    require(last <= int(table_.size()), "only allocated blocks can be backed by memory");
    if (first < last) pool_.prefault(table_.data() + first, size_t(last - first));
}

void KvCache::wipe(int begin, int end) const {
    for (int il = 0; il < pool_.layers(); ++il) {
        for (ggml_tensor * t : {k(il), v(il)})
            for (int p = begin; p < end; ++p) ggml_backend_tensor_memset(t, 0, size_t(slot(p)) * t->nb[1], t->nb[1]);
    }
}

void KvCache::truncate(int n) {
    while (int(table_.size()) > blocks_of(n)) {
        pool_.unref(table_.back());
        table_.pop_back();
    }
}

void KvCache::share_prefix(const KvCache & other, int n) {
    require(&pool_ == &other.pool_ && table_.empty(), "only an empty session of the same model can share blocks");
    for (int i = 0; i < blocks_of(n); ++i) append_block(other.table_[size_t(i)]);
}

void KvCache::append_block(int32_t block) {
    pool_.ref(block);
    table_.push_back(block);
}

void KvCache::cache_block(size_t i, const BlockHash & hash, std::vector<int32_t> tokens) {
    const int cached = pool_.blocks().cache(table_[i], hash, std::move(tokens));
    if (cached == table_[i]) return;
    pool_.ref(cached);
    pool_.unref(table_[i]);
    table_[i] = cached;
}

}  // namespace kvasir
