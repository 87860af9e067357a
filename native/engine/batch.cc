#include "batch.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "error.h"

namespace kvasir {

namespace {

constexpr int kUbatchRows = 512;  // llama.cpp's n_ubatch: more at a time gained nothing in measurements
constexpr int kAlign = 64;
constexpr uint16_t kMinusInf = 0xFC00;  // f16

// Parts of about kUbatchRows, all alike: a short one at the end would run on slower kernels. They begin at multiples of
// kAlign, so that what is computed for a row does not depend on how many of the rows before it were there already:
// kernels treat the last few rows of a part in another way.
std::vector<std::pair<int, int>> split(int n) {
    const int count = std::max(1, int(std::lround(double(n) / kUbatchRows)));
    std::vector<std::pair<int, int>> out;
    for (int i = 0; i < count; ++i) {
        const int begin = int(int64_t(n) * i / count) / kAlign * kAlign;
        const int end = i + 1 == count ? n : int(int64_t(n) * (i + 1) / count) / kAlign * kAlign;
        out.emplace_back(begin, end - begin);
    }
    return out;
}

void fill_mask(ggml_tensor * mask, const int32_t * positions, int count) {
    const int64_t n_kv = mask->ne[0];
    std::vector<uint16_t> m(size_t(ggml_nelements(mask)), kMinusInf);
    for (int r = 0; r < count; ++r) {
        std::memset(m.data() + size_t(r) * n_kv, 0, sizeof(uint16_t) * std::min<int64_t>(n_kv, positions[r] + 1));
    }
    ggml_backend_tensor_set(mask, m.data(), 0, m.size() * sizeof(uint16_t));
}

}  // namespace

Batch::Batch(std::vector<int32_t> positions, int n_embd, Device & device, const KvCache & cache)
    : positions_(std::move(positions)), device_(&device), cache_(&cache) {
    require(!positions_.empty(), "a batch holds at least one row");
    const auto parts = split(size());
    ctx_ = make_context(2 + parts.size() * 4);
    ggml_context * c = ctx_.get();
    x_ = ggml_new_tensor_2d(c, GGML_TYPE_F32, n_embd, size());
    const int pad = device.is_host() ? 1 : kPaddedKeys;
    const int most = (positions_.back() + 1 + pad - 1) / pad * pad;
    std::vector<int32_t> ids = cache.block_table();
    ids.resize(size_t(most + kKvBlock - 1) / kKvBlock, ids.front());  // what is beyond the last position is masked
    const BlockTable table{ggml_new_tensor_1d(c, GGML_TYPE_I32, int64_t(ids.size())),
                           cache.first_row(positions_.back() + 1)};
    for (auto [begin, count] : parts) {
        Ubatch b;
        b.begin = begin, b.count = count;
        const int visible = positions_[size_t(begin + count - 1)] + 1;
        b.n_kv = (visible + pad - 1) / pad * pad;
        b.x = ggml_view_2d(c, x_, n_embd, count, x_->nb[1], size_t(begin) * x_->nb[1]);
        b.pos = ggml_new_tensor_1d(c, GGML_TYPE_I32, count);
        b.slots = ggml_new_tensor_1d(c, GGML_TYPE_I32, count);
        b.table = table;
        if (needs_mask(device)) b.mask = ggml_new_tensor_2d(c, GGML_TYPE_F16, b.n_kv, count);
        ubatches_.push_back(b);
    }
    memory_ = device.memory().allocate_for_pass(c);
    ggml_backend_tensor_set(table.ids, ids.data(), 0, ggml_nbytes(table.ids));
    std::vector<int32_t> slots;
    for (int32_t p : positions_) slots.push_back(cache.slot(p));
    for (const Ubatch & b : ubatches_) {
        const int32_t * p = positions_.data() + b.begin;
        ggml_backend_tensor_set(b.pos, p, 0, size_t(b.count) * sizeof(int32_t));
        ggml_backend_tensor_set(b.slots, slots.data() + b.begin, 0, size_t(b.count) * sizeof(int32_t));
        if (b.mask) fill_mask(b.mask, p, b.count);
    }
}

Batch Batch::subset(const std::vector<int32_t> & indices, Device & device) const {
    std::vector<int32_t> positions;
    for (int32_t i : indices) positions.push_back(positions_[size_t(i)]);
    Batch out(std::move(positions), int(x_->ne[0]), device, *cache_);
    const size_t row = x_->nb[1];
    // Through host memory: rare (once a check layer and device), and right on every backend.
    std::vector<uint8_t> all(ggml_nbytes(x_)), picked(row * indices.size());
    ggml_backend_tensor_get(x_, all.data(), 0, all.size());
    for (size_t i = 0; i < indices.size(); ++i) {
        std::memcpy(picked.data() + i * row, all.data() + size_t(indices[i]) * row, row);
    }
    ggml_backend_tensor_set(out.x_, picked.data(), 0, picked.size());
    return out;
}

}  // namespace kvasir
