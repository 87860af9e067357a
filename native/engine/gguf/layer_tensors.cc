// Tensor lists of a layer, with the names that llama.cpp's converters use.
#include "engine/graph/architecture.h"

namespace kvasir {

std::string layer_tensor_name(int layer, const char * weight) { return "blk." + std::to_string(layer) + "." + weight; }

std::vector<TensorSpec> attention_tensors(const Hparams & hp, int layer) {
    const auto name = [&](const char * weight) { return layer_tensor_name(layer, weight); };
    const int64_t d = hp.n_embd, q = hp.layer(layer).q_dim(), kv = hp.layer(layer).kv_dim();
    return {
        {name("attn_norm.weight"), {d}, &LayerWeights::attn_norm},
        {name("attn_q.weight"), {d, q}, &LayerWeights::wq},
        {name("attn_k.weight"), {d, kv}, &LayerWeights::wk},
        {name("attn_v.weight"), {d, kv}, &LayerWeights::wv},
        {name("attn_output.weight"), {q, d}, &LayerWeights::wo},
        {name("attn_q.bias"), {q}, &LayerWeights::bq, false},
        {name("attn_k.bias"), {kv}, &LayerWeights::bk, false},
        {name("attn_v.bias"), {kv}, &LayerWeights::bv, false},
        {name("attn_output.bias"), {d}, &LayerWeights::bo, false},
    };
}

void add_head_norms(std::vector<TensorSpec> & specs, const Hparams & hp, int layer) {
    const int64_t n = hp.layer(layer).head_dim;
    specs.push_back({layer_tensor_name(layer, "attn_q_norm.weight"), {n}, &LayerWeights::q_norm});
    specs.push_back({layer_tensor_name(layer, "attn_k_norm.weight"), {n}, &LayerWeights::k_norm});
}

void add_post_norms(std::vector<TensorSpec> & specs, const Hparams & hp, int layer) {
    const int64_t d = hp.n_embd;
    specs.push_back({layer_tensor_name(layer, "post_attention_norm.weight"), {d}, &LayerWeights::attn_post_norm});
    specs.push_back({layer_tensor_name(layer, "post_ffw_norm.weight"), {d}, &LayerWeights::ffn_post_norm});
}

void add_feed_forward(std::vector<TensorSpec> & specs, const Hparams & hp, int layer) {
    const int64_t d = hp.n_embd, ff = hp.layer(layer).n_ff;
    specs.push_back({layer_tensor_name(layer, "ffn_gate.weight"), {d, ff}, &LayerWeights::gate});
    specs.push_back({layer_tensor_name(layer, "ffn_up.weight"), {d, ff}, &LayerWeights::up});
    specs.push_back({layer_tensor_name(layer, "ffn_down.weight"), {ff, d}, &LayerWeights::down});
}

void add_fused_feed_forward(std::vector<TensorSpec> & specs, const Hparams & hp, int layer) {
    const int64_t d = hp.n_embd, ff = hp.layer(layer).n_ff;
    const std::string both = layer_tensor_name(layer, "ffn_up.weight");
    specs.push_back({both, {d, ff}, &LayerWeights::gate, true, {0, 2 * ff}});
    specs.push_back({both, {d, ff}, &LayerWeights::up, true, {ff, 2 * ff}});
    specs.push_back({layer_tensor_name(layer, "ffn_down.weight"), {ff, d}, &LayerWeights::down});
}

void add_experts(std::vector<TensorSpec> & specs, const Hparams & hp, int layer) {
    const auto name = [&](const char * weight) { return layer_tensor_name(layer, weight); };
    const int64_t d = hp.n_embd, ff = hp.experts.n_ff, n = hp.experts.count;
    specs.push_back({name("ffn_norm.weight"), {d}, &LayerWeights::ffn_norm});
    specs.push_back({name("ffn_gate_inp.weight"), {d, n}, &LayerWeights::router});
    specs.push_back({name("ffn_gate_exps.weight"), {d, ff, n}, &LayerWeights::gate_experts});
    specs.push_back({name("ffn_up_exps.weight"), {d, ff, n}, &LayerWeights::up_experts});
    specs.push_back({name("ffn_down_exps.weight"), {ff, d, n}, &LayerWeights::down_experts});
}

std::vector<TensorSpec> Architecture::layer_tensors(const Hparams & hp, int layer) const {
    auto specs = attention_tensors(hp, layer);
    specs.push_back({layer_tensor_name(layer, "ffn_norm.weight"), {hp.n_embd}, &LayerWeights::ffn_norm});
    add_feed_forward(specs, hp, layer);
    return specs;
}

}  // namespace kvasir
