#include "forward.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "engine/error.h"
#include "engine/kernels/attention.h"
#include "engine/kernels/convert.h"
#include "layers.h"

namespace kvasir {

namespace {
// f32 mask: 0 for the keys that a row sees, else −inf.
void set_seen(ggml_tensor * mask, const int32_t * positions, int rows, int window) {
    const size_t n_kv = size_t(mask->ne[0]);
    std::vector<float> values(n_kv * size_t(rows), -INFINITY);
    for (int r = 0; r < rows; ++r) {
        const size_t end = std::min(n_kv, size_t(positions[r]) + 1);
        const size_t begin = window && end > size_t(window) ? end - size_t(window) : 0;
        std::fill_n(values.begin() + std::ptrdiff_t(n_kv * size_t(r) + begin), end - begin, 0.0f);
    }
    ggml_backend_tensor_set(mask, values.data(), 0, values.size() * sizeof(float));
}

// Reads the first `keys` of each row of [n_kv, rows, heads] weights; the others are padding.
void read_attention(const ggml_tensor * weights, size_t keys, std::vector<float> & out) {
    const size_t n_kv = size_t(weights->ne[0]), rows = size_t(ggml_nrows(weights));
    out.resize(n_kv * rows);
    ggml_backend_tensor_get(weights, out.data(), 0, out.size() * sizeof(float));
    for (size_t r = 1; r < rows && keys < n_kv; ++r) {
        std::copy_n(out.begin() + std::ptrdiff_t(r * n_kv), keys, out.begin() + std::ptrdiff_t(r * keys));
    }
    out.resize(keys * rows);
}

Rows rows_of(const Ubatch & b) { return b.apart ? Rows::apart : Rows::together; }

// Concatenates rows [width, 1] into one tensor; by halves, so that each row is copied only a few times.
ggml_tensor * joined(ggml_context * c, std::vector<ggml_tensor *> parts) {
    while (parts.size() > 1) {
        std::vector<ggml_tensor *> pairs;
        for (size_t i = 0; i + 1 < parts.size(); i += 2) pairs.push_back(ggml_concat(c, parts[i], parts[i + 1], 1));
        if (parts.size() % 2) pairs.push_back(parts.back());
        parts = std::move(pairs);
    }
    return parts.front();
}

}

Forward::Forward(const Weights & weights, Device & cpu)
    : weights_(weights),
      cpu_(cpu),
      tables_(weights.hparams().ropes.begin(), weights.hparams().ropes.end()),
      attention_(ggml_is_quantized(weights.layer(0).wq->type)) {
    std::set<Device *> devices;
    for (int il = 0; il < weights.hparams().n_layer; ++il) devices.insert(&weights.device(il));
    for (size_t i = 0; i < tables_.size(); ++i) {
        const std::vector<float> & factors = tables_[i].params().freq_factors;
        if (factors.empty()) continue;
        for (Device * device : devices) {
            RopeFactors f{device, int(i), make_context(1), nullptr, {}};
            f.tensor = ggml_new_tensor_1d(f.ctx.get(), GGML_TYPE_F32, int64_t(factors.size()));
            f.memory = device->memory().allocate(f.ctx.get());
            ggml_backend_tensor_set(f.tensor, factors.data(), 0, factors.size() * sizeof(float));
            rope_factors_.push_back(std::move(f));
        }
    }
}

ggml_tensor * Forward::rope(ggml_context * c, ggml_tensor * x, ggml_tensor * pos, int il) {
    const int index = weights_.hparams().layers[size_t(il)].rope;
    if (index < 0) return x;
    const RopeParams & r = weights_.hparams().ropes[size_t(index)];
    ggml_tensor * factors = nullptr;
    for (auto & f : rope_factors_)
        if (f.device == &weights_.device(il) && f.rope == index) factors = f.tensor;
    return ggml_rope_ext(c, x, pos, factors, r.n_rot, r.mode, r.n_ctx_orig, r.freq_base, r.freq_scale, r.ext_factor,
                         r.attn_factor, r.beta_fast, r.beta_slow);
}

ggml_tensor * Forward::embeddings(ggml_context * c, ggml_tensor * ids, Rows rows) {
    ggml_tensor * x = ggml_get_rows(c, weights_.token_embd(), ids);
    if (const auto * pair = weights_.adapter() ? weights_.adapter()->beside(weights_.token_embd()) : nullptr) {
        ggml_tensor * inner = ggml_scale(c, ggml_get_rows(c, pair->a, ids), pair->scale);
        x = ggml_add(c, x, matmul(c, pair->b, inner, rows));
    }
    const float scale = weights_.hparams().embedding_scale;
    return scale == 1 ? x : ggml_scale(c, x, scale);
}

std::vector<float> Forward::embed(const std::vector<int32_t> & tokens, Rows rows) {
    ggml_context * c = cpu_.graph_context();
    ggml_cgraph * g = ggml_new_graph_custom(c, 16, false);
    ggml_tensor * ids = ggml_new_tensor_1d(c, GGML_TYPE_I32, int64_t(tokens.size()));
    ggml_set_input(ids);
    ggml_tensor * x = embeddings(c, ids, rows);
    ggml_set_output(x);
    ggml_build_forward_expand(g, x);
    cpu_.prepare(g);
    ggml_backend_tensor_set(ids, tokens.data(), 0, ggml_nbytes(ids));
    cpu_.run(g, nullptr);
    std::vector<float> out(size_t(ggml_nelements(x)));
    ggml_backend_tensor_get(x, out.data(), 0, ggml_nbytes(x));
    return out;
}

std::vector<float> Forward::layer_inputs(const int32_t * tokens, int count, int begin, int end, Rows rows) {
    constexpr int kAtOnce = 16;  // layers per graph
    const Hparams & hp = weights_.hparams();
    const int width = hp.n_embd_per_layer;
    std::vector<float> out(size_t(width) * size_t(count) * size_t(end - begin));
    for (int first = begin, last; width && first < end; first = last) {
        last = std::min(end, first + kAtOnce);
        ggml_context * c = cpu_.graph_context();
        ggml_cgraph * g = ggml_new_graph_custom(c, Device::kMaxNodes, false);
        ggml_tensor * ids = ggml_new_tensor_1d(c, GGML_TYPE_I32, count);
        ggml_set_input(ids);
        ggml_tensor * x = embeddings(c, ids, rows);
        std::vector<ggml_tensor *> inputs;
        for (int il = first; il < last; ++il) {
            const Weights::LayerInput w = weights_.layer_input(c, il);
            ggml_tensor * projected = ggml_scale(c, matmul(c, w.projection, x, rows), 1 / std::sqrt(float(hp.n_embd)));
            projected = rms_norm(c, projected, w.norm, hp.rms_eps);
            ggml_tensor * own = ggml_scale(c, ggml_get_rows(c, w.embeddings, ids), std::sqrt(float(width)));
            inputs.push_back(ggml_scale(c, ggml_add(c, projected, own), 1 / std::sqrt(2.0f)));
            ggml_set_output(inputs.back());
            ggml_build_forward_expand(g, inputs.back());
        }
        cpu_.prepare(g);
        ggml_backend_tensor_set(ids, tokens, 0, ggml_nbytes(ids));
        cpu_.run(g, nullptr);
        for (int il = first; il < last; ++il) {
            ggml_tensor * y = inputs[size_t(il - first)];
            ggml_backend_tensor_get(y, out.data() + size_t(il - begin) * size_t(ggml_nelements(y)), 0, ggml_nbytes(y));
        }
    }
    return out;
}

void Forward::write_kv(LayerGraph & l, ggml_tensor * h) {
    ggml_context * c = l.c;
    ggml_cgraph * g = l.g;
    const int il = l.il;
    const Ubatch & b = l.b;
    const LayerCall & call = l.call;
    const Hparams & hp = weights_.hparams();
    const Architecture & arch = weights_.arch();
    const LayerShape & shape = hp.layer(il);
    const LayerArgs args{c, hp, shape, weights_.layer(il), weights_.adapter(), nullptr, rows_of(b)};
    ggml_tensor * k = arch.key(args, h);
    ggml_tensor * v = arch.value(args, h);
    if (call.raw_k) {
        l.raw_k = ggml_cont(c, ggml_reshape_2d(c, k, shape.kv_dim(), b.count));
        l.raw_v = ggml_cont(c, v);
        for (ggml_tensor * t : {l.raw_k, l.raw_v}) ggml_set_output(t), ggml_build_forward_expand(g, t);
    }
    k = ggml_reshape_2d(c, rope(c, k, b.pos, il), shape.kv_dim(), b.count);
    if (call.deviation) {
        const auto distance = [&](ggml_tensor * fresh, ggml_tensor * cache) {
            return ggml_sum_rows(c, ggml_sqr(c, ggml_sub(c, fresh, ggml_get_rows(c, cache, b.slots))));
        };
        if (call.deviation_of != DeviationOf::k) l.deviation = distance(v, l.pool.v(il));
        // Rotation preserves lengths: the distance of keys is the same with and without RoPE.
        if (call.deviation_of == DeviationOf::k) l.deviation = distance(k, l.pool.k(il));
        if (call.deviation_of == DeviationOf::kv) l.deviation = ggml_add(c, l.deviation, distance(k, l.pool.k(il)));
        ggml_set_output(l.deviation);
        ggml_build_forward_expand(g, l.deviation);
    }
    if (call.shift) measure_shift(l, k, v);
    // Expanded before attention: the graph does not know that attention reads what these nodes write.
    ggml_build_forward_expand(g, ggml_set_rows(c, l.pool.k(il), k, b.slots));
    ggml_build_forward_expand(g, ggml_set_rows(c, l.pool.v(il), v, b.slots));
}

// The attention weights of the batch's last rows, as plain products: there are few rows, and only the weights are
// needed.
void Forward::observe(LayerGraph & l, ggml_tensor * q) {
    ggml_context * c = l.c;
    const Ubatch & b = l.b;
    const Hparams & hp = weights_.hparams();
    const LayerShape & shape = hp.layer(l.il);
    ggml_tensor * k = kv_heads(c, shape.head_dim, l.pool.k(l.il), b.table, b.n_kv);
    ggml_tensor * last = ggml_view_3d(c, q, shape.head_dim, shape.n_head, l.observers, q->nb[1], q->nb[2],
                                      size_t(b.count - l.observers) * q->nb[2]);
    ggml_tensor * scores = ggml_mul_mat(c, k, ggml_permute(c, last, 0, 2, 1, 3));  // [n_kv, observers, n_head]
    ggml_mul_mat_set_prec(scores, GGML_PREC_F32);
    l.seen = ggml_new_tensor_2d(c, GGML_TYPE_F32, b.n_kv, l.observers);
    ggml_set_input(l.seen);
    l.attention = attention_weights(c, scores, l.seen, hp);
    if (ggml_tensor * sinks = weights_.layer(l.il).sinks) ggml_soft_max_add_sinks(l.attention, sinks);
    ggml_set_output(l.attention);
    ggml_build_forward_expand(l.g, l.attention);
}

ggml_tensor * Forward::build_layer(LayerGraph & l, ggml_tensor * x) {
    ggml_context * c = l.c;
    const int il = l.il;
    const Ubatch & b = l.b;
    const Hparams & hp = weights_.hparams();
    const Architecture & arch = weights_.arch();
    const LayerShape & shape = hp.layer(il);
    const LayerArgs args{c, hp, shape, weights_.layer(il), weights_.adapter(), l.input, rows_of(b)};
    ggml_tensor * h = arch.attention_input(args, x);
    if (l.call.write_kv && shape.kv_of == il) write_kv(l, h);
    if (!l.call.advance && !l.observers) return nullptr;
    ggml_tensor * q = rope(c, arch.query(args, h), b.pos, il);
    if (b.temperature) q = ggml_mul(c, q, b.temperature);
    if (l.observers) observe(l, q);
    if (!l.call.advance) return nullptr;
    std::vector<ggml_tensor *> parts;
    for (size_t i = 0; i < b.sequences.size(); ++i) {
        ggml_tensor * row = ggml_view_3d(c, q, q->ne[0], q->ne[1], 1, q->nb[1], q->nb[2], i * q->nb[2]);
        parts.push_back(attend(l, row, b.sequences[i]));
    }
    ggml_tensor * a = parts.empty() ? attend(l, q, b) : joined(c, parts);
    ggml_format_name(a, "attention-%d", il);
    return arch.output(args, a, x);
}

ggml_tensor * Forward::attend(LayerGraph & l, ggml_tensor * q, const Ubatch & b) {
    const Hparams & hp = weights_.hparams();
    const int window = hp.layer(l.il).windowed ? hp.window : 0;
    return attention_.build(l.c, hp, {q, l.pool.k(l.il), l.pool.v(l.il), b.table, b.pos,
                                      window ? b.window_mask : b.mask, b.n_kv, window, weights_.layer(l.il).sinks,
                                      weights_.device(l.il)});
}

void Forward::layer(int il, Batch & batch, const LayerCall & call, const std::atomic<bool> * abort) {
    Device & device = weights_.device(il);
    require(&device == &batch.device(), "the rows are on another device than the layer");
    const size_t kv_dim = size_t(weights_.hparams().layer(il).kv_dim());
    if (call.deviation) call.deviation->resize(size_t(batch.size()));
    if (call.raw_k) call.raw_k->resize(kv_dim * batch.size()), call.raw_v->resize(kv_dim * batch.size());
    if (call.shift) {
        for (auto * sums : {&call.shift->k, &call.shift->v}) sums->assign(kv_dim * size_t(call.shift->groups), 0);
    }
    for (const Ubatch & b : batch.ubatches()) {
        std::vector<float> input;
        if (call.advance) input = layer_inputs(batch.tokens().data() + b.begin, b.count, il, il + 1);
        ggml_context * c = device.graph_context();
        ggml_cgraph * g = ggml_new_graph_custom(c, Device::kMaxNodes, false);
        LayerGraph l{c, g, il, b, batch.cache().pool(), call};
        if (!input.empty()) {
            l.input = ggml_new_tensor_2d(c, GGML_TYPE_F32, int64_t(input.size()) / b.count, b.count);
            ggml_set_input(l.input);
        }
        if (call.attention && &b == &batch.ubatches().back()) l.observers = std::min(call.observers, b.count);
        ggml_tensor * y = build_layer(l, b.x);
        if (y) ggml_build_forward_expand(g, ggml_cpy(c, y, b.x));
        device.prepare(g);
        if (l.input) ggml_backend_tensor_set(l.input, input.data(), 0, ggml_nbytes(l.input));
        if (l.seen) {
            const Hparams & hp = weights_.hparams();
            set_seen(l.seen, batch.positions().data() + b.begin + b.count - l.observers, l.observers,
                     hp.layers[size_t(il)].windowed ? hp.window : 0);
        }
        if (l.shift.k) set_shift_inputs(l, batch.positions().data() + b.begin);
        device.run(g, abort);
        if (l.shift.k) add_shift(l);
        if (l.deviation) {
            ggml_backend_tensor_get(l.deviation, call.deviation->data() + b.begin, 0, size_t(b.count) * sizeof(float));
        }
        if (l.attention) read_attention(l.attention, size_t(batch.positions().back()) + 1, *call.attention);
        if (l.raw_k) {
            ggml_backend_tensor_get(l.raw_k, call.raw_k->data() + kv_dim * b.begin, 0, ggml_nbytes(l.raw_k));
            ggml_backend_tensor_get(l.raw_v, call.raw_v->data() + kv_dim * b.begin, 0, ggml_nbytes(l.raw_v));
        }
        if (between) between(double(b.count) / weights_.hparams().n_layer);
    }
}

void Forward::logits_of(const std::vector<float> & x, const std::vector<std::vector<float> *> & out,
                        const std::atomic<bool> * abort) {
    const Hparams & hp = weights_.hparams();
    const auto rows = int64_t(out.size());
    std::vector<float> normed(x.size()), logits;
    const auto run = [&](Device & device, const std::vector<float> & in, std::vector<float> & result, auto build) {
        ggml_context * c = device.graph_context();
        ggml_cgraph * g = ggml_new_graph_custom(c, 16, false);
        ggml_tensor * input = ggml_new_tensor_2d(c, GGML_TYPE_F32, hp.n_embd, rows);
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
    // Two steps, since tied output weights stay on the host while the last norm is on the last layer's device.
    run(weights_.head_device(), x, normed, [&](ggml_context * c, ggml_tensor * in) {
        return ggml_mul(c, ggml_rms_norm(c, in, hp.rms_eps), weights_.output_norm());
    });
    run(weights_.output_device(), normed, logits,
        [&](ggml_context * c, ggml_tensor * in) {
            ggml_tensor * y = matmul(c, weights_.output(), in, Rows::apart);
            y = adapted(c, weights_.adapter(), weights_.output(), in, y, Rows::apart);
            if (hp.logit_scale != 1) y = ggml_scale(c, y, hp.logit_scale);
            if (hp.logit_softcap == 0) return y;
            return ggml_scale(c, ggml_tanh(c, ggml_scale(c, y, 1 / hp.logit_softcap)), hp.logit_softcap);
        });
    const size_t n_vocab = logits.size() / out.size();
    for (size_t i = 0; i < out.size(); ++i) {
        const auto begin = logits.begin() + std::ptrdiff_t(i * n_vocab);
        out[i]->assign(begin, begin + std::ptrdiff_t(n_vocab));
        for (const int32_t token : hp.suppressed) (*out[i])[size_t(token)] = std::numeric_limits<float>::lowest();
    }
}

void Forward::head(const Batch & batch, std::vector<float> & out, const std::atomic<bool> * abort) {
    std::vector<float> x(size_t(weights_.hparams().n_embd));
    const size_t row = batch.x()->nb[1];
    ggml_backend_tensor_get(batch.x(), x.data(), row * size_t(batch.size() - 1), row);
    logits_of(x, {&out}, abort);
}

}  // namespace kvasir
