#include "batch.h"

#include <algorithm>
#include <cmath>

#include "engine/error.h"

namespace kvasir {

namespace {

constexpr int kUbatchRows = 512;  // llama.cpp's n_ubatch: larger ones were no faster when measured
constexpr int kAlign = 64;
constexpr uint16_t kMinusInf = 0xFC00;  // f16

// Splits n rows into equal parts of about kUbatchRows: a short one at the end would run on slower kernels. Parts begin
// at multiples of kAlign, so that a row's result does not depend on how many earlier rows were cached: kernels treat
// the last few rows of a part differently.
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

void fill_mask(ggml_tensor * mask, const int32_t * positions, int count, int window) {
    if (!mask || !mask->buffer) return;  // no mask, or no layer of the graph reads it
    const int64_t n_kv = mask->ne[0];
    std::vector<uint16_t> m(size_t(ggml_nelements(mask)), kMinusInf);
    for (int r = 0; r < count; ++r) {
        const int64_t end = std::min<int64_t>(n_kv, positions[r] + 1);
        const int64_t begin = window ? std::max<int64_t>(0, positions[r] + 1 - window) : 0;
        std::fill(m.begin() + r * n_kv + begin, m.begin() + r * n_kv + std::max(begin, end), uint16_t(0));
    }
    ggml_backend_tensor_set(mask, m.data(), 0, m.size() * sizeof(uint16_t));
}

}  // namespace

void add_masks(ggml_context * c, Ubatch & b, const Hparams & hp, const Device & device) {
    if (needs_mask(device)) {
        b.mask = ggml_new_tensor_2d(c, GGML_TYPE_F16, b.n_kv, b.count);
        if (hp.window) b.window_mask = ggml_new_tensor_2d(c, GGML_TYPE_F16, b.n_kv, b.count);
    }
}

void add_temperature(ggml_context * c, Ubatch & b, const Hparams & hp) {
    if (hp.temperature.scale != 0) b.temperature = ggml_new_tensor_3d(c, GGML_TYPE_F32, 1, 1, b.count);
}

void set_masks(const Ubatch & b, const int32_t * positions, const Hparams & hp) {
    fill_mask(b.mask, positions, b.count, 0);
    fill_mask(b.window_mask, positions, b.count, hp.window);
}

void set_temperature(const Ubatch & b, const int32_t * positions, const Hparams & hp) {
    if (!b.temperature) return;
    std::vector<float> t;
    for (int r = 0; r < b.count; ++r) t.push_back(hp.temperature.at(positions[r]));
    ggml_backend_tensor_set(b.temperature, t.data(), 0, t.size() * sizeof(float));
}

Batch::Batch(std::vector<int32_t> tokens, std::vector<int32_t> positions, const Hparams & hp, Device & device,
             const KvCache & cache)
    : tokens_(std::move(tokens)), positions_(std::move(positions)), hp_(&hp), device_(&device), cache_(&cache) {
    require(!positions_.empty(), "a batch has at least one row");
    const auto parts = split(size());
    ctx_ = make_context(2 + parts.size() * 6);
    ggml_context * c = ctx_.get();
    x_ = ggml_new_tensor_2d(c, GGML_TYPE_F32, hp.n_embd, size());
    const int pad = device.is_host() ? 1 : kPaddedKeys;
    const int most = (positions_.back() + 1 + pad - 1) / pad * pad;
    std::vector<int32_t> ids = cache.block_table();
    ids.resize(size_t(most + kKvBlock - 1) / kKvBlock, ids.front());  // padding after the last position is masked
    const BlockTable table{ggml_new_tensor_1d(c, GGML_TYPE_I32, int64_t(ids.size())),
                           cache.first_row(positions_.back() + 1)};
    for (auto [begin, count] : parts) {
        Ubatch b;
        b.begin = begin, b.count = count;
        const int visible = positions_[size_t(begin + count - 1)] + 1;
        b.n_kv = (visible + pad - 1) / pad * pad;
        b.x = ggml_view_2d(c, x_, hp.n_embd, count, x_->nb[1], size_t(begin) * x_->nb[1]);
        b.pos = ggml_new_tensor_1d(c, GGML_TYPE_I32, count);
        b.slots = ggml_new_tensor_1d(c, GGML_TYPE_I32, count);
        b.table = table;
        add_masks(c, b, hp, device);
        add_temperature(c, b, hp);
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
        set_masks(b, p, hp);
        set_temperature(b, p, hp);
    }
}

Batch Batch::subset(const std::vector<int32_t> & indices, Device & device) const {
    std::vector<int32_t> tokens, positions;
    for (int32_t i : indices) tokens.push_back(tokens_[size_t(i)]), positions.push_back(positions_[size_t(i)]);
    Batch out(std::move(tokens), std::move(positions), *hp_, device, *cache_);
    ggml_context * c = device_->graph_context();
    ggml_tensor * ids = ggml_new_tensor_1d(c, GGML_TYPE_I32, int64_t(indices.size()));
    ggml_set_input(ids);
    ggml_tensor * picked = ggml_get_rows(c, x_, ids);
    const bool moves = &device != device_;
    if (moves) ggml_set_output(picked);
    else picked = ggml_cpy(c, picked, out.x_);
    ggml_cgraph * graph = ggml_new_graph_custom(c, Device::kMaxNodes, false);
    ggml_build_forward_expand(graph, picked);
    device_->prepare(graph);
    ggml_backend_tensor_set(ids, indices.data(), 0, ggml_nbytes(ids));
    device_->run(graph, nullptr);
    if (moves) ggml_backend_tensor_copy(picked, out.x_);
    return out;
}

}  // namespace kvasir
