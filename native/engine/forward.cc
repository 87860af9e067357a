#include "forward.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "attention.h"
#include "convert.h"
#include "error.h"

namespace kvasir {

namespace {
constexpr size_t kGraphNodes = 8192;

// f32 masks: 0 for the keys a row sees, else −inf.
void set_causal_mask(ggml_tensor * mask, const int32_t * positions, int rows) {
    const size_t n_kv = size_t(mask->ne[0]);
    std::vector<float> values(n_kv * size_t(rows), -INFINITY);
    for (int r = 0; r < rows; ++r) std::fill_n(values.begin() + std::ptrdiff_t(n_kv * size_t(r)), std::min(n_kv, size_t(positions[r]) + 1), 0.0f);
    ggml_backend_tensor_set(mask, values.data(), 0, values.size() * sizeof(float));
}

// The first `keys` of each row of [n_kv, rows, heads] weights: the others are padding.
void read_attention(const ggml_tensor * weights, size_t keys, std::vector<float> & out) {
    const size_t n_kv = size_t(weights->ne[0]), rows = size_t(ggml_nrows(weights));
    out.resize(n_kv * rows);
    ggml_backend_tensor_get(weights, out.data(), 0, out.size() * sizeof(float));
    for (size_t r = 1; r < rows && keys < n_kv; ++r) std::copy_n(out.begin() + std::ptrdiff_t(r * n_kv), keys, out.begin() + std::ptrdiff_t(r * keys));
    out.resize(keys * rows);
}
}

// The graphs of one decode step, kept while the keys they look at stay in the same blocks. One graph per run of layers on
// the same device.
struct Forward::DecodePlan {
    struct Segment {
        Compute * device;
        std::vector<uint8_t> memory;
        ContextPtr ctx;
        GallocPtr galloc;
        ggml_cgraph * graph;
        ggml_tensor *x_in, *x_out;
        RowBlock row;
    };
    std::vector<int32_t> blocks;  // of the keys
    int generation = 0;           // of the pool they stand in
    std::vector<Segment> segments;
};

Forward::Forward(const Weights & weights, Compute & cpu, KvCache & cache, RopeTable & table)
    : weights_(weights), cpu_(cpu), cache_(cache), table_(table), attention_(ggml_is_quantized(weights.layer(0).wq->type)) {
    graph_memory_.resize(ggml_tensor_overhead() * kGraphNodes + ggml_graph_overhead_custom(kGraphNodes, false));
    graph_ctx_.reset(ggml_init({graph_memory_.size(), graph_memory_.data(), true}));
    const auto & factors = weights.hparams().rope.freq_factors;
    if (factors.empty()) return;
    std::set<Compute *> devices;
    for (int il = 0; il < weights.hparams().n_layer; ++il) devices.insert(&weights.device(il));
    for (Compute * device : devices) {
        RopeFactors f{device, make_context(1), nullptr, nullptr};
        f.tensor = ggml_new_tensor_1d(f.ctx.get(), GGML_TYPE_F32, int64_t(factors.size()));
        f.buffer = allocate(f.ctx.get(), device->buffer_type());
        ggml_backend_tensor_set(f.tensor, factors.data(), 0, factors.size() * sizeof(float));
        rope_factors_.push_back(std::move(f));
    }
}

Forward::~Forward() = default;

ggml_context * Forward::graph_context() {
    ggml_reset(graph_ctx_.get());
    return graph_ctx_.get();
}

ggml_tensor * Forward::rope(ggml_context * c, ggml_tensor * x, ggml_tensor * pos, Compute & device) {
    const RopeParams & r = weights_.hparams().rope;
    ggml_tensor * factors = nullptr;
    for (auto & f : rope_factors_)
        if (f.device == &device) factors = f.tensor;
    return ggml_rope_ext(c, x, pos, factors, r.n_rot, r.mode, r.n_ctx_orig, r.freq_base, r.freq_scale, r.ext_factor, r.attn_factor,
                         r.beta_fast, r.beta_slow);
}

std::vector<float> Forward::embed(const std::vector<int32_t> & tokens) {
    ggml_context * c = graph_context();
    ggml_cgraph * g = ggml_new_graph_custom(c, 16, false);
    ggml_tensor * ids = ggml_new_tensor_1d(c, GGML_TYPE_I32, int64_t(tokens.size()));
    ggml_set_input(ids);
    ggml_tensor * x = ggml_get_rows(c, weights_.token_embd(), ids);  // f32 [n_embd, tokens]
    ggml_set_output(x);
    ggml_build_forward_expand(g, x);
    cpu_.prepare(g);
    ggml_backend_tensor_set(ids, tokens.data(), 0, ggml_nbytes(ids));
    cpu_.run(g, nullptr);
    std::vector<float> out(size_t(ggml_nelements(x)));
    ggml_backend_tensor_get(x, out.data(), 0, ggml_nbytes(x));
    return out;
}

void Forward::write_kv(ggml_context * c, ggml_cgraph * g, int il, const RowBlock & b, ggml_tensor * h, const LayerCall & call, Measured & m) {
    const Hparams & hp = weights_.hparams();
    const Architecture & arch = weights_.arch();
    ggml_tensor * k = arch.key(c, hp, weights_.layer(il), h);
    ggml_tensor * v = arch.value(c, hp, weights_.layer(il), h);
    if (call.raw_k) {
        m.raw_k = ggml_cont(c, ggml_reshape_2d(c, k, hp.kv_dim(), b.count));
        m.raw_v = ggml_cont(c, v);
        for (ggml_tensor * t : {m.raw_k, m.raw_v}) ggml_set_output(t), ggml_build_forward_expand(g, t);
    }
    k = ggml_reshape_2d(c, rope(c, k, b.pos, weights_.device(il)), hp.kv_dim(), b.count);
    if (call.deviation) {
        const auto distance = [&](ggml_tensor * fresh, ggml_tensor * cache) {
            return ggml_sum_rows(c, ggml_sqr(c, ggml_sub(c, fresh, ggml_get_rows(c, cache, b.slots))));
        };
        if (call.deviation_of != DeviationOf::k) m.deviation = distance(v, cache_.v(il));
        // A rotation keeps lengths: keys are as far apart with RoPE as without.
        if (call.deviation_of == DeviationOf::k) m.deviation = distance(k, cache_.k(il));
        if (call.deviation_of == DeviationOf::kv) m.deviation = ggml_add(c, m.deviation, distance(k, cache_.k(il)));
        ggml_set_output(m.deviation);
        ggml_build_forward_expand(g, m.deviation);
    }
    // Expanded before attention: the graph does not see that attention reads what these write.
    ggml_build_forward_expand(g, ggml_set_rows(c, cache_.k(il), k, b.slots));
    ggml_build_forward_expand(g, ggml_set_rows(c, cache_.v(il), v, b.slots));
}

// The attention weights of the block's last rows, as plain products: they are few, and their weights are what is wanted.
void Forward::observe(ggml_context * c, ggml_cgraph * g, int il, const RowBlock & b, ggml_tensor * q, Measured & m) {
    const Hparams & hp = weights_.hparams();
    ggml_tensor * k = kv_heads(c, hp, cache_.k(il), b.places, b.n_kv);
    ggml_tensor * last = ggml_view_3d(c, q, hp.head_dim, hp.n_head, m.observers, q->nb[1], q->nb[2], size_t(b.count - m.observers) * q->nb[2]);
    ggml_tensor * scores = ggml_mul_mat(c, k, ggml_permute(c, last, 0, 2, 1, 3));  // [n_kv, observers, n_head]
    ggml_mul_mat_set_prec(scores, GGML_PREC_F32);
    m.mask = ggml_new_tensor_2d(c, GGML_TYPE_F32, b.n_kv, m.observers);
    ggml_set_input(m.mask);
    m.attention = ggml_soft_max_ext(c, scores, m.mask, 1.0f / std::sqrt(float(hp.head_dim)), 0.0f);
    ggml_set_output(m.attention);
    ggml_build_forward_expand(g, m.attention);
}

ggml_tensor * Forward::build_layer(ggml_context * c, ggml_cgraph * g, int il, const RowBlock & b, ggml_tensor * x, const LayerCall & call, Measured & m) {
    const Hparams & hp = weights_.hparams();
    const Architecture & arch = weights_.arch();
    const LayerWeights & w = weights_.layer(il);
    ggml_tensor * h = arch.attention_input(c, hp, w, x);
    if (call.write_kv) write_kv(c, g, il, b, h, call, m);
    if (!call.advance && !m.observers) return nullptr;
    ggml_tensor * q = rope(c, arch.query(c, hp, w, h), b.pos, weights_.device(il));
    if (m.observers) observe(c, g, il, b, q, m);
    if (!call.advance) return nullptr;
    ggml_tensor * a = attention_.build(c, hp, {q, cache_.k(il), cache_.v(il), b.places, b.pos, b.mask, b.n_kv});
    ggml_format_name(a, "attention-%d", il);
    return arch.output(c, hp, w, a, x);
}

void Forward::layer(int il, RowSet & rows, const LayerCall & call, const std::atomic<bool> * abort) {
    Compute & device = weights_.device(il);
    require(&device == &rows.device(), "rows live on another device than the layer");
    const size_t kv_dim = size_t(weights_.hparams().kv_dim());
    if (call.deviation) call.deviation->resize(size_t(rows.size()));
    if (call.raw_k) call.raw_k->resize(kv_dim * rows.size()), call.raw_v->resize(kv_dim * rows.size());
    for (const RowBlock & b : rows.blocks()) {
        ggml_context * c = graph_context();
        ggml_cgraph * g = ggml_new_graph_custom(c, 256, false);
        Measured m;
        if (call.attention && &b == &rows.blocks().back()) m.observers = std::min(call.observers, b.count);
        ggml_tensor * y = build_layer(c, g, il, b, b.x, call, m);
        if (y) ggml_build_forward_expand(g, ggml_cpy(c, y, b.x));
        device.prepare(g);
        if (m.mask) set_causal_mask(m.mask, rows.positions().data() + b.begin + b.count - m.observers, m.observers);
        device.run(g, abort);
        if (m.deviation) ggml_backend_tensor_get(m.deviation, call.deviation->data() + b.begin, 0, size_t(b.count) * sizeof(float));
        if (m.attention) read_attention(m.attention, size_t(rows.positions().back()) + 1, *call.attention);
        if (m.raw_k) {
            ggml_backend_tensor_get(m.raw_k, call.raw_k->data() + kv_dim * b.begin, 0, ggml_nbytes(m.raw_k));
            ggml_backend_tensor_get(m.raw_v, call.raw_v->data() + kv_dim * b.begin, 0, ggml_nbytes(m.raw_v));
        }
    }
}

void Forward::logits_of(const std::vector<float> & x, std::vector<float> & out, const std::atomic<bool> * abort) {
    const Hparams & hp = weights_.hparams();
    std::vector<float> normed(x.size());
    const auto run = [&](Compute & device, const std::vector<float> & in, std::vector<float> & result, auto build) {
        ggml_context * c = graph_context();
        ggml_cgraph * g = ggml_new_graph_custom(c, 16, false);
        ggml_tensor * input = ggml_new_tensor_2d(c, GGML_TYPE_F32, hp.n_embd, 1);
        ggml_set_input(input);
        ggml_tensor * y = build(c, input);
        ggml_set_output(y);
        ggml_build_forward_expand(g, y);
        device.prepare(g);
        ggml_backend_tensor_set(input, in.data(), 0, ggml_nbytes(input));
        device.run(g, abort);
        result.resize(size_t(ggml_nelements(y)));
        ggml_backend_tensor_get(y, result.data(), 0, ggml_nbytes(y));
    };
    // Two steps, since tied output weights stay on the host while the last norm lives with the last layer.
    run(weights_.head_device(), x, normed,
        [&](ggml_context * c, ggml_tensor * in) { return ggml_mul(c, ggml_rms_norm(c, in, hp.rms_eps), weights_.output_norm()); });
    run(weights_.output_device(), normed, out, [&](ggml_context * c, ggml_tensor * in) { return ggml_mul_mat(c, weights_.output(), in); });
}

void Forward::head(const RowSet & rows, std::vector<float> & out, const std::atomic<bool> * abort) {
    std::vector<float> x(size_t(weights_.hparams().n_embd));
    const size_t row = rows.x()->nb[1];
    ggml_backend_tensor_get(rows.x(), x.data(), row * size_t(rows.size() - 1), row);
    logits_of(x, out, abort);
}

// Plans the layers from `il` on that live on one device; `il` → the first behind them.
void Forward::plan_segment(int & il) {
    const Hparams & hp = weights_.hparams();
    DecodePlan::Segment s{&weights_.device(il), std::vector<uint8_t>(graph_memory_.size()), nullptr, nullptr, nullptr, nullptr, nullptr, {}};
    s.ctx.reset(ggml_init({s.memory.size(), s.memory.data(), true}));
    ggml_context * c = s.ctx.get();
    s.graph = ggml_new_graph_custom(c, kGraphNodes / 2, false);
    s.x_in = ggml_new_tensor_2d(c, GGML_TYPE_F32, hp.n_embd, 1);
    const int keys = int(decode_->blocks.size()) * kKvBlock, pad = s.device->is_host() ? kKvBlock : kPaddedKeys;
    RowBlock & b = s.row;
    b.count = 1, b.n_kv = (keys + pad - 1) / pad * pad, b.x = s.x_in;
    b.pos = ggml_new_tensor_1d(c, GGML_TYPE_I32, 1);
    b.slots = ggml_new_tensor_1d(c, GGML_TYPE_I32, 1);
    b.places = {ggml_new_tensor_1d(c, GGML_TYPE_I32, b.n_kv / kKvBlock), cache_.run(keys)};
    if (needs_mask(*s.device)) b.mask = ggml_new_tensor_2d(c, GGML_TYPE_F16, b.n_kv, 1);
    for (ggml_tensor * t : {s.x_in, b.pos, b.slots, b.mask, b.places.blocks})
        if (t) ggml_set_input(t);
    ggml_tensor * x = s.x_in;
    for (; il < hp.n_layer && &weights_.device(il) == s.device; ++il) {
        Measured nothing;
        x = build_layer(c, s.graph, il, b, x, {}, nothing);
    }
    s.x_out = x;
    ggml_set_output(x);
    ggml_build_forward_expand(s.graph, x);
    s.galloc.reset(ggml_gallocr_new(s.device->buffer_type()));
    if (!ggml_gallocr_alloc_graph(s.galloc.get(), s.graph)) throw Error("OUT_OF_MEMORY", "There is not enough memory to decode.");
    decode_->segments.push_back(std::move(s));
}

void Forward::decode(int32_t token, int32_t position, std::vector<float> & out, const std::atomic<bool> * abort) {
    std::vector<int32_t> blocks = cache_.table();
    blocks.resize(size_t(position / kKvBlock) + 1);
    if (!decode_ || decode_->blocks != blocks || decode_->generation != cache_.pool().generation()) {
        decode_ = std::make_unique<DecodePlan>();
        decode_->blocks = blocks;
        decode_->generation = cache_.pool().generation();
        for (int il = 0; il < weights_.hparams().n_layer;) plan_segment(il);
    }
    std::vector<float> x = embed({token});
    const int32_t slot = cache_.slot(position);
    for (auto & s : decode_->segments) {
        const RowBlock & b = s.row;
        std::vector<uint16_t> mask(size_t(b.n_kv), 0xFC00);
        std::fill_n(mask.begin(), position + 1, uint16_t(0));
        blocks.resize(size_t(b.n_kv / kKvBlock), blocks.front());
        ggml_backend_tensor_set(s.x_in, x.data(), 0, x.size() * sizeof(float));
        ggml_backend_tensor_set(b.pos, &position, 0, sizeof position);
        ggml_backend_tensor_set(b.slots, &slot, 0, sizeof slot);
        if (b.mask) ggml_backend_tensor_set(b.mask, mask.data(), 0, mask.size() * sizeof(uint16_t));
        if (!b.mask || b.places.run < 0) ggml_backend_tensor_set(b.places.blocks, blocks.data(), 0, ggml_nbytes(b.places.blocks));
        s.device->run(s.graph, abort);
        ggml_backend_tensor_get(s.x_out, x.data(), 0, x.size() * sizeof(float));
    }
    logits_of(x, out, abort);
}

}  // namespace kvasir
