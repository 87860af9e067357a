// One token through all layers.
#include <algorithm>

#include "error.h"
#include "forward.h"

namespace kvasir {

namespace {
constexpr size_t kLayerNodes = 96, kAdapterNodes = 40;  // of one row, at most
}

DecodeGraph::DecodeGraph(const Weights & weights)
    : layer_nodes(kLayerNodes + (weights.adapter() ? kAdapterNodes : 0)) {
    const int n_layer = weights.hparams().n_layer;
    for (int end = 0; end < n_layer;) {
        const int begin = end;
        Device & device = weights.device(begin);
        while (end < n_layer && &weights.device(end) == &device) ++end;
        splits.push_back({&device, begin, end, make_graph_context(size_t(end - begin) * layer_nodes),
                          GallocPtr(ggml_gallocr_new(device.memory().type()))});
    }
}

void Forward::build_decode_graph(const KvCache & cache, std::vector<int32_t> blocks) {
    const Hparams & hp = weights_.hparams();
    const int keys = int(blocks.size()) * kKvBlock;
    const LayerCall plain;
    decode_graph_.generation = -1;  // until all is there
    for (auto & s : decode_graph_.splits) {
        ggml_reset(s.ctx.get());
        ggml_context * c = s.ctx.get();
        s.graph = ggml_new_graph_custom(c, size_t(s.end - s.begin) * decode_graph_.layer_nodes, false);
        s.x_in = ggml_new_tensor_2d(c, GGML_TYPE_F32, hp.n_embd, 1);
        const int pad = s.device->is_host() ? kKvBlock : kPaddedKeys;
        Ubatch & b = s.row = {};
        b.count = 1, b.n_kv = (keys + pad - 1) / pad * pad, b.x = s.x_in;
        b.pos = ggml_new_tensor_1d(c, GGML_TYPE_I32, 1);
        b.slots = ggml_new_tensor_1d(c, GGML_TYPE_I32, 1);
        b.table = {ggml_new_tensor_1d(c, GGML_TYPE_I32, b.n_kv / kKvBlock), cache.first_row(keys)};
        add_masks(c, b, hp, *s.device);
        s.inputs = hp.n_embd_per_layer
                       ? ggml_new_tensor_2d(c, GGML_TYPE_F32, hp.n_embd_per_layer, s.end - s.begin)
                       : nullptr;
        for (ggml_tensor * t : {s.x_in, s.inputs, b.pos, b.slots, b.mask, b.window_mask, b.temperature, b.table.ids})
            if (t) ggml_set_input(t);
        s.x_out = s.x_in;
        for (int il = s.begin; il < s.end; ++il) {
            LayerGraph l{c, s.graph, il, b, cache, plain};
            if (s.inputs) {
                const size_t row = s.inputs->nb[1];
                l.input = ggml_view_2d(c, s.inputs, hp.n_embd_per_layer, 1, row, size_t(il - s.begin) * row);
            }
            s.x_out = build_layer(l, s.x_out);
        }
        ggml_set_output(s.x_out);
        ggml_build_forward_expand(s.graph, s.x_out);
        s.device->memory().allocate_graph(s.galloc.get(), s.graph);
    }
    decode_graph_.blocks = std::move(blocks);
    decode_graph_.generation = cache.pool().generation();
}

void Forward::decode(int32_t token, int32_t position, const KvCache & cache, std::vector<float> & out,
                     const std::atomic<bool> * abort) {
    std::vector<int32_t> blocks = cache.block_table();
    blocks.resize(size_t(position / kKvBlock) + 1);
    if (!decode_graph_.can_reuse(cache, blocks)) build_decode_graph(cache, blocks);
    std::vector<float> x = embed({token});
    const int32_t slot = cache.slot(position);
    for (auto & s : decode_graph_.splits) {
        const Ubatch & b = s.row;
        blocks.resize(size_t(b.n_kv / kKvBlock), blocks.front());
        ggml_backend_tensor_set(s.x_in, x.data(), 0, x.size() * sizeof(float));
        if (s.inputs) {
            const std::vector<float> inputs = layer_inputs(&token, 1, s.begin, s.end);
            ggml_backend_tensor_set(s.inputs, inputs.data(), 0, ggml_nbytes(s.inputs));
        }
        ggml_backend_tensor_set(b.pos, &position, 0, sizeof position);
        ggml_backend_tensor_set(b.slots, &slot, 0, sizeof slot);
        set_masks(b, &position, weights_.hparams());
        if (!b.mask || b.table.first_row < 0) {
            ggml_backend_tensor_set(b.table.ids, blocks.data(), 0, ggml_nbytes(b.table.ids));
        }
        s.device->run(s.graph, abort);
        ggml_backend_tensor_get(s.x_out, x.data(), 0, x.size() * sizeof(float));
    }
    logits_of(x, out, abort);
}

}  // namespace kvasir
