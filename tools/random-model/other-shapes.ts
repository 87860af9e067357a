/** Header entries and tensors, by size, of model files whose architectures only libllama runs. */
import type { GgufValue } from './gguf.ts';

export interface Size {
  layers: number;
  width: number;
  heads: number;
  kvHeads: number;
  /** Size of a head; for MLA, of its unrotated part. */
  head: number;
  feedForward: number;
  /** In layers with a recurrent state: size per channel or head. */
  state: number;
  vocabulary: number;
}

interface Shape {
  /** Keys without the architecture's prefix. */
  header: Record<string, GgufValue>;
  tensors: (layer: number) => Record<string, number[]>;
  /** Of the norm after the last layer. */
  outputNorm: Record<string, number[]>;
}

const EPSILON = { f32: 1e-5 };

/** Attention only, with layer norms and biases. */
function starcoder2(size: Size): Shape {
  const { width, heads, kvHeads, head, feedForward } = size;
  return {
    header: { ...attention(size), 'attention.layer_norm_epsilon': EPSILON },
    outputNorm: normAndBias('output_norm', width),
    tensors: () => ({
      ...normAndBias('attn_norm', width),
      ...linear('attn_q', width, heads * head),
      ...linear('attn_k', width, kvHeads * head),
      ...linear('attn_v', width, kvHeads * head),
      ...linear('attn_output', heads * head, width),
      ...normAndBias('ffn_norm', width),
      ...linear('ffn_up', width, feedForward),
      ...linear('ffn_down', feedForward, width),
    }),
  };
}

/** Three of four layers use a sliding window. */
function cohere2(size: Size): Shape {
  return {
    header: {
      ...attention(size),
      'attention.layer_norm_epsilon': EPSILON,
      'attention.sliding_window': { u32: 32 },
      logit_scale: { f32: 1 },
    },
    outputNorm: { 'output_norm.weight': [size.width] },
    tensors: () => ({ 'attn_norm.weight': [size.width], ...projections(size), ...gated(size) }),
  };
}

/** Recurrent state only. */
function mamba({ width, state }: Size): Shape {
  const [inner, steps, kernel] = [2 * width, width / 16, 4];
  return {
    header: {
      'attention.head_count': { u32: 0 },
      feed_forward_length: { u32: 0 },
      'attention.layer_norm_rms_epsilon': EPSILON,
      'ssm.conv_kernel': { u32: kernel },
      'ssm.inner_size': { u32: inner },
      'ssm.state_size': { u32: state },
      'ssm.time_step_rank': { u32: steps },
    },
    outputNorm: { 'output_norm.weight': [width] },
    tensors: () => ({
      'attn_norm.weight': [width],
      'ssm_in.weight': [width, 2 * inner],
      'ssm_conv1d.weight': [kernel, inner],
      'ssm_conv1d.bias': [inner],
      'ssm_x.weight': [inner, steps + 2 * state],
      'ssm_dt.weight': [steps, inner],
      'ssm_dt.bias': [inner],
      ssm_a: [state, inner],
      ssm_d: [inner],
      'ssm_out.weight': [inner, width],
    }),
  };
}

/** Short-convolution and attention layers, alternating. */
function lfm2(size: Size): Shape {
  const { layers, width, kvHeads, head } = size;
  const kernel = 3;
  return {
    header: {
      ...attention(size),
      'attention.head_count_kv': { i32s: Array.from({ length: layers }, (_, i) => (i % 2) * kvHeads) },
      'attention.layer_norm_rms_epsilon': EPSILON,
      'shortconv.l_cache': { u32: kernel },
    },
    outputNorm: { 'token_embd_norm.weight': [width] },
    tensors: (layer) => ({
      'attn_norm.weight': [width],
      ...(layer % 2 === 1
        ? { ...projections(size), 'attn_q_norm.weight': [head], 'attn_k_norm.weight': [head] }
        : {
            'shortconv.conv.weight': [kernel, width],
            'shortconv.in_proj.weight': [width, 3 * width],
            'shortconv.out_proj.weight': [width, width],
          }),
      'ffn_norm.weight': [width],
      ...gated(size),
    }),
  };
}

/** Qwen 3.5: a recurrent state (gated delta net) in three of four layers, gated attention in the fourth. */
function qwen35(size: Size): Shape {
  return gatedDeltaNet(size, { steps: ['ssm_beta', 'ssm_alpha'], layer: () => gated(size) });
}

function qwen35moe(size: Size): Shape {
  return withExperts(
    gatedDeltaNet(size, { steps: ['ssm_beta', 'ssm_alpha'], layer: () => experts(size) }),
    size,
  );
}

/** As Qwen 3.5 with experts, except that one matrix computes both steps. */
function qwen3next(size: Size): Shape {
  return withExperts(gatedDeltaNet(size, { steps: ['ssm_ba'], layer: () => experts(size) }), size);
}

/** `steps`: the matrices of a head's two step sizes; `layer`: tensors of the feed-forward. */
function gatedDeltaNet(
  size: Size,
  { steps, layer: feedForward }: { steps: readonly string[]; layer: () => Record<string, number[]> },
): Shape {
  const { width, heads, kvHeads, head, state } = size;
  const [period, kernel, stateHeads] = [4, 4, heads];
  const inner = stateHeads * state;
  const sections = [head / 8, head / 16, head / 16, 0];
  return {
    header: {
      ...attention(size),
      'attention.layer_norm_rms_epsilon': EPSILON,
      'rope.dimension_count': { u32: head / 2 },
      'rope.dimension_sections': { i32s: sections },
      full_attention_interval: { u32: period },
      'ssm.conv_kernel': { u32: kernel },
      'ssm.inner_size': { u32: inner },
      'ssm.state_size': { u32: state },
      'ssm.time_step_rank': { u32: stateHeads },
      'ssm.group_count': { u32: stateHeads },
    },
    outputNorm: { 'output_norm.weight': [width] },
    tensors: (layer) => ({
      'attn_norm.weight': [width],
      'post_attention_norm.weight': [width],
      ...(layer % period === period - 1
        ? {
            'attn_q.weight': [width, 2 * heads * head],
            'attn_k.weight': [width, kvHeads * head],
            'attn_v.weight': [width, kvHeads * head],
            'attn_output.weight': [heads * head, width],
            'attn_q_norm.weight': [head],
            'attn_k_norm.weight': [head],
          }
        : {
            'attn_qkv.weight': [width, 3 * inner],
            'attn_gate.weight': [width, inner],
            'ssm_conv1d.weight': [kernel, 3 * inner],
            'ssm_dt.bias': [stateHeads],
            ssm_a: [stateHeads],
            ...Object.fromEntries(
              steps.map((name) => [`${name}.weight`, [width, (2 / steps.length) * stateHeads]]),
            ),
            'ssm_norm.weight': [state],
            'ssm_out.weight': [inner, width],
          }),
      ...feedForward(),
    }),
  };
}

/** Granite 4: Mamba-2 and attention layers, each with a feed-forward. */
function granitehybrid(size: Size): Shape {
  const { layers, width, kvHeads } = size;
  return {
    header: {
      ...attention(size),
      ...mamba2Header(size),
      'attention.head_count_kv': { i32s: Array.from({ length: layers }, (_, i) => (i % 2) * kvHeads) },
      'attention.layer_norm_rms_epsilon': EPSILON,
      logit_scale: { f32: 1 },
    },
    outputNorm: { 'output_norm.weight': [width] },
    tensors: (layer) => ({
      'attn_norm.weight': [width],
      ...(layer % 2 === 1 ? projections(size) : mamba2(size)),
      'ffn_norm.weight': [width],
      ...gated(size),
    }),
  };
}

/** Nemotron-H: a layer is either Mamba-2, attention, or a feed-forward. */
function nemotron_h(size: Size): Shape {
  const { layers, width, kvHeads, feedForward } = size;
  const kinds = Array.from(
    { length: layers },
    (_, i) => (['mamba', 'attention', 'mamba', 'mlp'] as const)[i % 4],
  );
  return {
    header: {
      ...attention(size),
      ...mamba2Header(size),
      'attention.head_count_kv': { i32s: kinds.map((kind) => (kind === 'attention' ? kvHeads : 0)) },
      feed_forward_length: { i32s: kinds.map((kind) => (kind === 'mlp' ? feedForward : 0)) },
      'attention.layer_norm_epsilon': EPSILON,
      'attention.layer_norm_rms_epsilon': EPSILON,
    },
    outputNorm: { 'output_norm.weight': [width], 'output.weight': [width, size.vocabulary] },
    tensors: (layer) => ({
      'attn_norm.weight': [width],
      ...(kinds[layer] === 'mamba' && mamba2(size)),
      ...(kinds[layer] === 'attention' && projections(size)),
      ...(kinds[layer] === 'mlp' && {
        'ffn_up.weight': [width, feedForward],
        'ffn_down.weight': [feedForward, width],
      }),
    }),
  };
}

/** Mamba-2 and attention side by side in every layer. */
function falconH1(size: Size): Shape {
  const { width } = size;
  return {
    header: { ...attention(size), ...mamba2Header(size), 'attention.layer_norm_rms_epsilon': EPSILON },
    outputNorm: { 'output_norm.weight': [width] },
    tensors: () => ({
      'attn_norm.weight': [width],
      ...mamba2(size),
      ...projections(size),
      ffn_norm: [width],
      ...gated(size),
    }),
  };
}

/** Mamba and attention layers, without positions. */
function jamba(size: Size): Shape {
  const { layers, width, kvHeads, state } = size;
  const own = mamba(size);
  return {
    header: {
      ...own.header,
      ...attention(size),
      'attention.head_count_kv': { i32s: Array.from({ length: layers }, (_, i) => (i % 2) * kvHeads) },
    },
    outputNorm: { 'output_norm.weight': [width] },
    tensors: (layer) => ({
      ...(layer % 2 === 1
        ? { 'attn_norm.weight': [width], ...projections(size) }
        : {
            ...own.tensors(layer),
            'ssm_dt_norm.weight': [width / 16],
            'ssm_b_norm.weight': [state],
            'ssm_c_norm.weight': [state],
          }),
      'ffn_norm.weight': [width],
      ...gated(size),
    }),
  };
}

const MAMBA2_KERNEL = 4;

function mamba2Header({ width, heads, state }: Size): Record<string, GgufValue> {
  return {
    'ssm.conv_kernel': { u32: MAMBA2_KERNEL },
    'ssm.inner_size': { u32: 2 * width },
    'ssm.state_size': { u32: state },
    'ssm.time_step_rank': { u32: heads },
    'ssm.group_count': { u32: 1 },
  };
}

function mamba2({ width, heads, state }: Size): Record<string, number[]> {
  const inner = 2 * width;
  const mixed = inner + 2 * state;
  return {
    'ssm_in.weight': [width, inner + mixed + heads],
    'ssm_conv1d.weight': [MAMBA2_KERNEL, mixed],
    'ssm_conv1d.bias': [mixed],
    'ssm_dt.bias': [heads],
    ssm_a: [1, heads],
    ssm_d: [1, heads],
    'ssm_norm.weight': [inner, 1],
    'ssm_out.weight': [inner, width],
  };
}

const EXPERTS = 8;

function withExperts(shape: Shape, { feedForward }: Size): Shape {
  const expert = feedForward / 4;
  return {
    ...shape,
    header: {
      ...shape.header,
      expert_count: { u32: EXPERTS },
      expert_used_count: { u32: 2 },
      expert_feed_forward_length: { u32: expert },
      expert_shared_feed_forward_length: { u32: expert },
    },
  };
}

/** Experts beside one that every token uses. */
function experts({ width, feedForward }: Size): Record<string, number[]> {
  const expert = feedForward / 4;
  return {
    'ffn_gate_inp.weight': [width, EXPERTS],
    'ffn_gate_exps.weight': [width, expert, EXPERTS],
    'ffn_up_exps.weight': [width, expert, EXPERTS],
    'ffn_down_exps.weight': [expert, width, EXPERTS],
    'ffn_gate_inp_shexp.weight': [width],
    'ffn_gate_shexp.weight': [width, expert],
    'ffn_up_shexp.weight': [width, expert],
    'ffn_down_shexp.weight': [expert, width],
  };
}

/** DeepSeek: KV compressed (MLA) to one row for all heads; experts in all layers but the first. */
function deepseek2(size: Size): Shape {
  const { width, heads, head, feedForward } = size;
  const [rank, queryRank, rotated] = [4 * head, 6 * head, head / 2];
  const [experts, used] = [8, 2];
  const expert = feedForward / 4;
  return {
    header: {
      feed_forward_length: { u32: feedForward },
      'attention.head_count': { u32: heads },
      'attention.head_count_kv': { u32: 1 },
      'attention.key_length': { u32: rank + rotated },
      'attention.value_length': { u32: rank },
      'attention.key_length_mla': { u32: head + rotated },
      'attention.value_length_mla': { u32: head },
      'attention.kv_lora_rank': { u32: rank },
      'attention.q_lora_rank': { u32: queryRank },
      'attention.layer_norm_rms_epsilon': EPSILON,
      'rope.dimension_count': { u32: rotated },
      'rope.freq_base': { f32: 10_000 },
      leading_dense_block_count: { u32: 1 },
      expert_count: { u32: experts },
      expert_used_count: { u32: used },
      expert_shared_count: { u32: 1 },
      expert_feed_forward_length: { u32: expert },
      expert_weights_scale: { f32: 1 },
    },
    outputNorm: { 'output_norm.weight': [width] },
    tensors: (layer) => ({
      'attn_norm.weight': [width],
      'attn_q_a.weight': [width, queryRank],
      'attn_q_a_norm.weight': [queryRank],
      'attn_q_b.weight': [queryRank, heads * (head + rotated)],
      'attn_kv_a_mqa.weight': [width, rank + rotated],
      'attn_kv_a_norm.weight': [rank],
      'attn_k_b.weight': [head, rank, heads],
      'attn_v_b.weight': [rank, head, heads],
      'attn_output.weight': [heads * head, width],
      'ffn_norm.weight': [width],
      ...(layer === 0
        ? gated(size)
        : {
            'ffn_gate_inp.weight': [width, experts],
            'ffn_gate_exps.weight': [width, expert, experts],
            'ffn_up_exps.weight': [width, expert, experts],
            'ffn_down_exps.weight': [expert, width, experts],
            'ffn_gate_shexp.weight': [width, expert],
            'ffn_up_shexp.weight': [width, expert],
            'ffn_down_shexp.weight': [expert, width],
          }),
    }),
  };
}

function attention({ heads, kvHeads, head, feedForward }: Size): Record<string, GgufValue> {
  return {
    feed_forward_length: { u32: feedForward },
    'attention.head_count': { u32: heads },
    'attention.head_count_kv': { u32: kvHeads },
    'attention.key_length': { u32: head },
    'attention.value_length': { u32: head },
    'rope.dimension_count': { u32: head },
    'rope.freq_base': { f32: 10_000 },
  };
}

function projections({ width, heads, kvHeads, head }: Size): Record<string, number[]> {
  return {
    'attn_q.weight': [width, heads * head],
    'attn_k.weight': [width, kvHeads * head],
    'attn_v.weight': [width, kvHeads * head],
    'attn_output.weight': [heads * head, width],
  };
}

function gated({ width, feedForward }: Size): Record<string, number[]> {
  return {
    'ffn_gate.weight': [width, feedForward],
    'ffn_up.weight': [width, feedForward],
    'ffn_down.weight': [feedForward, width],
  };
}

function normAndBias(name: string, width: number): Record<string, number[]> {
  return { [`${name}.weight`]: [width], [`${name}.bias`]: [width] };
}

function linear(name: string, from: number, to: number): Record<string, number[]> {
  return { [`${name}.weight`]: [from, to], [`${name}.bias`]: [to] };
}

export const OTHER_SHAPES = {
  starcoder2,
  cohere2,
  mamba,
  lfm2,
  qwen35,
  qwen35moe,
  qwen3next,
  granitehybrid,
  nemotron_h,
  'falcon-h1': falconH1,
  jamba,
  deepseek2,
};
export type OtherArchitecture = keyof typeof OTHER_SHAPES;
