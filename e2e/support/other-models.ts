/** Tiny models with random weights, of architectures that only libllama runs. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { writeGguf, type GgufTensor, type GgufValue } from './gguf.ts';

const WIDTH = 64;
const VOCABULARY = 512;
const HEADS = 4;
const KV_HEADS = 2;
const HEAD = 16;
const FEED_FORWARD = 128;
const CONTEXT = 4096;

interface Shape {
  layers: number;
  header: Record<string, GgufValue>;
  tensors: (layer: number) => Record<string, number[]>;
  /** Of the norm behind the last layer. */
  outputNorm: Record<string, number[]>;
}

/** Attention alone, with layer norms and biases. */
const starcoder2: Shape = {
  layers: 3,
  header: { ...attention(), 'attention.layer_norm_epsilon': { f32: 1e-5 } },
  outputNorm: norm('output_norm'),
  tensors: () => ({
    ...norm('attn_norm'),
    ...linear('attn_q', WIDTH, HEADS * HEAD),
    ...linear('attn_k', WIDTH, KV_HEADS * HEAD),
    ...linear('attn_v', WIDTH, KV_HEADS * HEAD),
    ...linear('attn_output', HEADS * HEAD, WIDTH),
    ...norm('ffn_norm'),
    ...linear('ffn_up', WIDTH, FEED_FORWARD),
    ...linear('ffn_down', FEED_FORWARD, WIDTH),
  }),
};

/** Three of four layers see a window only. */
const cohere2: Shape = {
  layers: 4,
  header: {
    ...attention(),
    'attention.layer_norm_epsilon': { f32: 1e-5 },
    'attention.sliding_window': { u32: 32 },
    logit_scale: { f32: 1 },
  },
  outputNorm: { 'output_norm.weight': [WIDTH] },
  tensors: () => ({ 'attn_norm.weight': [WIDTH], ...projections(), ...feedForward() }),
};

/** A running state and nothing else. */
const mamba: Shape = {
  layers: 3,
  header: {
    'attention.head_count': { u32: 0 },
    feed_forward_length: { u32: 0 },
    'attention.layer_norm_rms_epsilon': { f32: 1e-5 },
    'ssm.conv_kernel': { u32: 4 },
    'ssm.inner_size': { u32: 2 * WIDTH },
    'ssm.state_size': { u32: 16 },
    'ssm.time_step_rank': { u32: 4 },
  },
  outputNorm: { 'output_norm.weight': [WIDTH] },
  tensors: () => ({
    'attn_norm.weight': [WIDTH],
    'ssm_in.weight': [WIDTH, 4 * WIDTH],
    'ssm_conv1d.weight': [4, 2 * WIDTH],
    'ssm_conv1d.bias': [2 * WIDTH],
    'ssm_x.weight': [2 * WIDTH, 4 + 2 * 16],
    'ssm_dt.weight': [4, 2 * WIDTH],
    'ssm_dt.bias': [2 * WIDTH],
    ssm_a: [16, 2 * WIDTH],
    ssm_d: [2 * WIDTH],
    'ssm_out.weight': [2 * WIDTH, WIDTH],
  }),
};

/** Layers with a running state and layers with attention by turns. */
const lfm2: Shape = {
  layers: 4,
  header: {
    ...attention(),
    'attention.head_count_kv': { i32s: [0, KV_HEADS, 0, KV_HEADS] },
    'attention.layer_norm_rms_epsilon': { f32: 1e-5 },
    'shortconv.l_cache': { u32: 3 },
  },
  outputNorm: { 'token_embd_norm.weight': [WIDTH] },
  tensors: (layer) => ({
    'attn_norm.weight': [WIDTH],
    ...(layer % 2 === 1
      ? { ...projections(), 'attn_q_norm.weight': [HEAD], 'attn_k_norm.weight': [HEAD] }
      : {
          'shortconv.conv.weight': [3, WIDTH],
          'shortconv.in_proj.weight': [WIDTH, 3 * WIDTH],
          'shortconv.out_proj.weight': [WIDTH, WIDTH],
        }),
    'ffn_norm.weight': [WIDTH],
    ...feedForward(),
  }),
};

const SHAPES = { starcoder2, cohere2, mamba, lfm2 };
export type OtherArchitecture = keyof typeof SHAPES;

/** `more`: entries of the header that stand beside the model's own, or in their place; under their full names. */
export function otherModel(
  architecture: OtherArchitecture,
  dir: string,
  more: Record<string, GgufValue> = {},
): string {
  const shape = SHAPES[architecture];
  mkdirSync(dir, { recursive: true });
  const header = {
    ...baseHeader(architecture, shape),
    ...vocabulary(),
    ...more,
  };
  const names: Record<string, number[]> = {
    'token_embd.weight': [WIDTH, VOCABULARY],
    ...shape.outputNorm,
  };
  for (let layer = 0; layer < shape.layers; layer++)
    for (const [name, size] of Object.entries(shape.tensors(layer))) names[`blk.${layer}.${name}`] = size;
  return writeGguf(join(dir, `${architecture}.gguf`), header, Object.entries(names).map(tensor));
}

function baseHeader(architecture: string, { layers, header }: Shape): Record<string, GgufValue> {
  const own: Record<string, GgufValue> = {
    block_count: { u32: layers },
    context_length: { u32: CONTEXT },
    embedding_length: { u32: WIDTH },
    vocab_size: { u32: VOCABULARY },
    ...header,
  };
  const named = Object.entries(own).map(([key, value]) => [`${architecture}.${key}`, value] as const);
  return {
    'general.architecture': architecture,
    'general.name': `Random ${architecture}`,
    ...Object.fromEntries(named),
  };
}

function attention(): Record<string, GgufValue> {
  return {
    feed_forward_length: { u32: FEED_FORWARD },
    'attention.head_count': { u32: HEADS },
    'attention.head_count_kv': { u32: KV_HEADS },
    'attention.key_length': { u32: HEAD },
    'attention.value_length': { u32: HEAD },
    'rope.dimension_count': { u32: HEAD },
    'rope.freq_base': { f32: 10_000 },
  };
}

function projections(): Record<string, number[]> {
  return {
    'attn_q.weight': [WIDTH, HEADS * HEAD],
    'attn_k.weight': [WIDTH, KV_HEADS * HEAD],
    'attn_v.weight': [WIDTH, KV_HEADS * HEAD],
    'attn_output.weight': [HEADS * HEAD, WIDTH],
  };
}

function feedForward(): Record<string, number[]> {
  return {
    'ffn_gate.weight': [WIDTH, FEED_FORWARD],
    'ffn_up.weight': [WIDTH, FEED_FORWARD],
    'ffn_down.weight': [FEED_FORWARD, WIDTH],
  };
}

function norm(name: string): Record<string, number[]> {
  return { [`${name}.weight`]: [WIDTH], [`${name}.bias`]: [WIDTH] };
}

function linear(name: string, from: number, to: number): Record<string, number[]> {
  return { [`${name}.weight`]: [from, to], [`${name}.bias`]: [to] };
}

/** Norms are around 1, decays (ssm_a) below 0, the others around 0. */
function tensor([name, shape]: [string, number[]]): GgufTensor {
  const count = shape.reduce((product, n) => product * n, 1);
  const random = generator(name);
  const isNorm = name.endsWith('norm.weight');
  const spread = isNorm || shape.length === 1 ? 0.1 : 2 / Math.sqrt(shape[0] ?? 1);
  const values = Float32Array.from({ length: count }, () => {
    const value = spread * (random() + random() + random() - 1.5);
    if (name.endsWith('ssm_a')) return -0.1 - Math.abs(value);
    return isNorm ? 1 + value : value;
  });
  // The end's logit is 0, and some other token's is larger: a text never ends by itself.
  if (name === 'token_embd.weight') values.fill(0, 0, WIDTH);
  return { name, shape, values };
}

/** Numbers from 0 to 1, the same for the same name. */
function generator(name: string): () => number {
  let state = Buffer.from(name).reduce((sum, byte) => (sum * 31 + byte) >>> 0, 7);
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** GPT-2's byte alphabet, so that any text can be tokenised, and fillers. */
function vocabulary(): Record<string, GgufValue> {
  const texts = ['<|eos|>', '<|bos|>'];
  let extra = 0;
  for (let byte = 0; byte < 256; byte++) {
    const printable = (byte >= 33 && byte < 127) || (byte >= 161 && byte < 173) || byte >= 174;
    texts.push(String.fromCodePoint(printable ? byte : 256 + extra++));
  }
  while (texts.length < VOCABULARY) texts.push(`<filler${texts.length}>`);
  return {
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': 'gpt-2',
    'tokenizer.ggml.tokens': { texts },
    'tokenizer.ggml.token_type': { i32s: texts.map((_, i) => (i < 2 ? 3 : 1)) },
    'tokenizer.ggml.merges': { texts: ['a b'] },
    'tokenizer.ggml.bos_token_id': { u32: 1 },
    'tokenizer.ggml.eos_token_id': { u32: 0 },
    'tokenizer.ggml.add_bos_token': true,
  };
}
