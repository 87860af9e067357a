#include "forward.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "attention.h"
#include "convert.h"
#include "error.h"

namespace kvasir {

namespace {
constexpr size_t kGraphNodes = 8192;
}

// The graphs of one decode step, kept while the number of keys they look at stays the same. One graph per run of layers
// on the same device.
struct Forward::DecodePlan {
    struct Segment {
        Compute * device;
        std::vector<uint8_t> memory;
        ContextPtr ctx;
        GallocPtr galloc;
        ggml_cgraph * graph;
        ggml_tensor *x_in, *x_out, *pos, *mask;
    };
    int n_kv = 0;
    std::vector<Segment> segments;
};

Forward::Forward(const Weights & weights, Compute & cpu, KvCache & cache, RopeTable & table)
    : weights_(weights), cpu_(cpu), cache_(cache), table_(table) {
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

ggml_tensor * Forward::build_layer(ggml_context * c, ggml_cgraph * g, int il, const RowBlock & b, ggml_tensor * x, const LayerCall & call,
                                   ggml_tensor ** deviation, ggml_tensor ** raw_k, ggml_tensor ** raw_v) {
    const Hparams & hp = weights_.hparams();
    const Architecture & arch = weights_.arch();
    const LayerWeights & w = weights_.layer(il);
    Compute & device = weights_.device(il);
    ggml_tensor * h = arch.attention_input(c, hp, w, x);
    if (call.write_kv) {
        ggml_tensor * k = arch.key(c, hp, w, h);
        ggml_tensor * v = arch.value(c, hp, w, h);
        if (call.raw_k) {
            *raw_k = ggml_cont(c, ggml_reshape_2d(c, k, hp.kv_dim(), b.count));
            *raw_v = ggml_cont(c, v);
            for (ggml_tensor * t : {*raw_k, *raw_v}) ggml_set_output(t), ggml_build_forward_expand(g, t);
        }
        if (call.deviation) {
            ggml_tensor * stored = ggml_get_rows(c, cache_.v(il), b.pos);
            *deviation = ggml_sum_rows(c, ggml_sqr(c, ggml_sub(c, v, stored)));
            ggml_set_output(*deviation);
            ggml_build_forward_expand(g, *deviation);
        }
        // Expanded before attention: the graph does not see that attention reads what these write.
        k = ggml_reshape_2d(c, rope(c, k, b.pos, device), hp.kv_dim(), b.count);
        ggml_build_forward_expand(g, ggml_set_rows(c, cache_.k(il), k, b.pos));
        ggml_build_forward_expand(g, ggml_set_rows(c, cache_.v(il), v, b.pos));
    }
    if (!call.advance) return nullptr;
    ggml_tensor * q = rope(c, arch.query(c, hp, w, h), b.pos, device);
    ggml_tensor * a = attention(c, hp, {q, cache_.k(il), cache_.v(il), b.pos, b.mask, b.n_kv});
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
        ggml_tensor *deviation = nullptr, *raw_k = nullptr, *raw_v = nullptr;
        ggml_tensor * y = build_layer(c, g, il, b, b.x, call, &deviation, &raw_k, &raw_v);
        if (y) ggml_build_forward_expand(g, ggml_cpy(c, y, b.x));
        device.prepare(g);
        device.run(g, abort);
        if (deviation) ggml_backend_tensor_get(deviation, call.deviation->data() + b.begin, 0, size_t(b.count) * sizeof(float));
        if (raw_k) {
            ggml_backend_tensor_get(raw_k, call.raw_k->data() + kv_dim * b.begin, 0, ggml_nbytes(raw_k));
            ggml_backend_tensor_get(raw_v, call.raw_v->data() + kv_dim * b.begin, 0, ggml_nbytes(raw_v));
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

void Forward::decode(int32_t token, int32_t position, std::vector<float> & out, const std::atomic<bool> * abort) {
    const Hparams & hp = weights_.hparams();
    const int n_kv = std::min(cache_.capacity(), (position + 256) / 256 * 256);
    if (!decode_ || decode_->n_kv != n_kv) {
        decode_ = std::make_unique<DecodePlan>();
        decode_->n_kv = n_kv;
        for (int il = 0; il < hp.n_layer;) {
            DecodePlan::Segment s{&weights_.device(il), std::vector<uint8_t>(graph_memory_.size()), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
            s.ctx.reset(ggml_init({s.memory.size(), s.memory.data(), true}));
            ggml_context * c = s.ctx.get();
            s.graph = ggml_new_graph_custom(c, kGraphNodes / 2, false);
            s.x_in = ggml_new_tensor_2d(c, GGML_TYPE_F32, hp.n_embd, 1);
            s.pos = ggml_new_tensor_1d(c, GGML_TYPE_I32, 1);
            s.mask = ggml_new_tensor_2d(c, GGML_TYPE_F16, n_kv, 1);
            for (ggml_tensor * t : {s.x_in, s.pos, s.mask}) ggml_set_input(t);
            RowBlock b{0, 1, n_kv, s.x_in, s.pos, s.mask};
            ggml_tensor * x = s.x_in;
            for (; il < hp.n_layer && &weights_.device(il) == s.device; ++il) x = build_layer(c, s.graph, il, b, x, {}, nullptr, nullptr, nullptr);
            s.x_out = x;
            ggml_set_output(x);
            ggml_build_forward_expand(s.graph, x);
            s.galloc.reset(ggml_gallocr_new(s.device->buffer_type()));
            if (!ggml_gallocr_alloc_graph(s.galloc.get(), s.graph)) throw Error("OUT_OF_MEMORY", "There is not enough memory to decode.");
            decode_->segments.push_back(std::move(s));
        }
    }
    std::vector<float> x = embed({token});
    std::vector<uint16_t> mask(size_t(n_kv), 0xFC00);
    std::fill_n(mask.begin(), position + 1, uint16_t(0));
    for (auto & s : decode_->segments) {
        ggml_backend_tensor_set(s.x_in, x.data(), 0, x.size() * sizeof(float));
        ggml_backend_tensor_set(s.pos, &position, 0, sizeof position);
        ggml_backend_tensor_set(s.mask, mask.data(), 0, mask.size() * sizeof(uint16_t));
        s.device->run(s.graph, abort);
        ggml_backend_tensor_get(s.x_out, x.data(), 0, x.size() * sizeof(float));
    }
    logits_of(x, out, abort);
}

}  // namespace kvasir
