// Runs a few tokens of one or several sessions through all layers.
#include <algorithm>

#include "engine/error.h"
#include "forward.h"

namespace kvasir {

namespace {

// Upper bounds: for one row, and for the attention of each further row.
constexpr size_t kLayerNodes = 96, kAdapterNodes = 40, kRowNodes = 24;
constexpr size_t kWidth = 8;  // tables have a multiple of this many blocks, so that a graph can be reused for a while

// An input that no layer of the graph reads has no memory.
void set_input(ggml_tensor * t, const void * values) {
    if (t->buffer) ggml_backend_tensor_set(t, values, 0, ggml_nbytes(t));
}

// The attention inputs of a row in its own session, with `keys` keys; its position is `pos`.
Ubatch row_of(ggml_context * c, ggml_tensor * pos, int keys, const KvCache & cache, const Hparams & hp,
              const Device & device) {
    const int pad = device.is_host() ? kKvBlock : kPaddedKeys;
    Ubatch b;
    b.count = 1, b.n_kv = (keys + pad - 1) / pad * pad, b.pos = pos;
    b.table = {ggml_new_tensor_1d(c, GGML_TYPE_I32, b.n_kv / kKvBlock), cache.first_row(keys)};
    add_masks(c, b, hp, device);
    return b;
}

void set_row(const Ubatch & b, int32_t position, std::vector<int32_t> blocks, const Hparams & hp) {
    set_masks(b, &position, hp);
    if (b.mask && b.table.first_row >= 0) return;
    blocks.resize(size_t(b.n_kv / kKvBlock), blocks.front());  // padding after the last position is masked
    set_input(b.table.ids, blocks.data());
}

void set_rows(const Ubatch & b, const std::vector<int32_t> & positions, const DecodeGraph::Blocks & blocks,
              const Hparams & hp) {
    if (!b.sequences.empty()) {
        for (size_t i = 0; i < positions.size(); ++i) set_row(b.sequences[i], positions[i], blocks[i], hp);
        return;
    }
    std::vector<int32_t> table;
    for (size_t i = 0; i < blocks.size(); ++i) {
        table.insert(table.end(), blocks[i].begin(), blocks[i].end());
        table.resize((i + 1) * size_t(b.table.ids->ne[0]), blocks[i].front());
    }
    set_input(b.table.ids, table.data());
}

// For attention that takes a single table of blocks.
void add_sequences(ggml_context * c, Ubatch & b, ggml_tensor * pos, const std::vector<DecodeRow> & rows,
                   const DecodeGraph::Blocks & blocks, const Hparams & hp, const Device & device) {
    for (size_t i = 0; i < rows.size(); ++i) {
        ggml_tensor * own = ggml_view_1d(c, pos, 1, i * sizeof(int32_t));
        const int keys = int(blocks[i].size()) * kKvBlock;
        b.sequences.push_back(row_of(c, own, keys, *rows[i].cache, hp, device));
    }
}

}  // namespace

DecodeGraph::DecodeGraph(const Weights & weights) : adapted(weights.adapter() != nullptr) {
    const int n_layer = weights.hparams().n_layer;
    for (int end = 0; end < n_layer;) {
        const int begin = end;
        Device & device = weights.device(begin);
        while (end < n_layer && &weights.device(end) == &device) ++end;
        splits.push_back({&device, begin, end, nullptr, GallocPtr(ggml_gallocr_new(device.memory().type()))});
    }
}

bool DecodeGraph::can_reuse(const KvPool & pool, const Blocks & keys) const {
    if (generation != pool.generation() || blocks.size() != keys.size()) return false;
    if (exact) return blocks == keys;
    return std::all_of(keys.begin(), keys.end(), [&](const auto & row) { return row.size() <= width; });
}

size_t DecodeGraph::layer_nodes(size_t rows) const {
    return kLayerNodes + (adapted ? kAdapterNodes : 0) + (rows - 1) * kRowNodes;
}

void Forward::build_decode_graph(DecodeGraph & graph, const std::vector<DecodeRow> & rows,
                                 DecodeGraph::Blocks blocks) {
    const Hparams & hp = weights_.hparams();
    const int n = int(rows.size());
    const size_t nodes = graph.layer_nodes(rows.size());
    const LayerCall plain;
    graph.generation = -1;  // invalid until the graph is complete
    graph.exact = false;
    size_t width = 0;
    for (const auto & keys : blocks) width = std::max(width, keys.size());
    graph.width = width = (width + kWidth - 1) / kWidth * kWidth;
    for (auto & s : graph.splits) {
        const size_t room = size_t(s.end - s.begin) * nodes;
        if (s.ctx) ggml_reset(s.ctx.get());
        else s.ctx = make_graph_context(room);
        ggml_context * c = s.ctx.get();
        s.graph = ggml_new_graph_custom(c, room, false);
        s.x_in = ggml_new_tensor_2d(c, GGML_TYPE_F32, hp.n_embd, n);
        Ubatch & b = s.rows = {};
        ggml_tensor * slots = ggml_new_tensor_1d(c, GGML_TYPE_I32, n);
        ggml_tensor * pos = ggml_new_tensor_1d(c, GGML_TYPE_I32, n);
        if (needs_mask(*s.device)) {
            graph.exact = true;
            add_sequences(c, b, pos, rows, blocks, hp, *s.device);
        } else {
            b.n_kv = int(width) * kKvBlock;
            b.table.ids = ggml_new_tensor_2d(c, GGML_TYPE_I32, int64_t(width), n);
        }
        b.x = s.x_in, b.pos = pos, b.slots = slots, b.count = n, b.apart = n > 1;
        add_temperature(c, b, hp);
        s.inputs = hp.n_embd_per_layer
                       ? ggml_new_tensor_3d(c, GGML_TYPE_F32, hp.n_embd_per_layer, n, s.end - s.begin)
                       : nullptr;
        for (ggml_tensor * t : {s.x_in, s.inputs, pos, slots, b.temperature, b.table.ids})
            if (t) ggml_set_input(t);
        for (const Ubatch & row : b.sequences)
            for (ggml_tensor * t : {row.mask, row.window_mask, row.table.ids})
                if (t) ggml_set_input(t);
        s.x_out = s.x_in;
        for (int il = s.begin; il < s.end; ++il) {
            LayerGraph l{c, s.graph, il, b, rows.front().cache->pool(), plain};
            if (s.inputs) {
                const size_t layer = size_t(il - s.begin) * s.inputs->nb[2];
                l.input = ggml_view_2d(c, s.inputs, hp.n_embd_per_layer, n, s.inputs->nb[1], layer);
            }
            s.x_out = build_layer(l, s.x_out);
        }
        ggml_set_output(s.x_out);
        ggml_build_forward_expand(s.graph, s.x_out);
        s.device->memory().allocate_graph(s.galloc.get(), s.graph);
    }
    graph.blocks = std::move(blocks);
    graph.generation = rows.front().cache->pool().generation();
}

void Forward::decode(const std::vector<DecodeRow> & rows, const std::atomic<bool> * abort) {
    const Hparams & hp = weights_.hparams();
    std::vector<int32_t> tokens, positions, slots;
    DecodeGraph::Blocks blocks;
    for (const DecodeRow & row : rows) {
        tokens.push_back(row.token), positions.push_back(row.position);
        slots.push_back(row.cache->slot(row.position));
        blocks.push_back(row.cache->block_table());
        blocks.back().resize(size_t(row.position / kKvBlock) + 1);
    }
    DecodeGraph & graph = decode_graphs_.try_emplace(rows.size(), weights_).first->second;
    if (!graph.can_reuse(rows.front().cache->pool(), blocks)) build_decode_graph(graph, rows, blocks);
    std::vector<float> x = embed(tokens, Rows::apart);
    for (auto & s : graph.splits) {
        const Ubatch & b = s.rows;
        ggml_backend_tensor_set(s.x_in, x.data(), 0, x.size() * sizeof(float));
        if (s.inputs) {
            const auto inputs = layer_inputs(tokens.data(), int(tokens.size()), s.begin, s.end, Rows::apart);
            ggml_backend_tensor_set(s.inputs, inputs.data(), 0, ggml_nbytes(s.inputs));
        }
        set_input(b.pos, positions.data());
        set_input(b.slots, slots.data());
        set_temperature(b, positions.data(), hp);
        set_rows(b, positions, blocks, hp);
        s.device->run(s.graph, abort);
        ggml_backend_tensor_get(s.x_out, x.data(), 0, x.size() * sizeof(float));
    }
    std::vector<std::vector<float> *> logits;
    for (const DecodeRow & row : rows) logits.push_back(row.logits);
    logits_of(x, logits, abort);
}

}  // namespace kvasir
