/** Tiny random-weight f32 models of architectures that only libllama runs. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { writeGguf, type GgufTensor, type GgufValue } from './gguf.ts';
import { OTHER_SHAPES, type OtherArchitecture, type Size } from './other-shapes.ts';

const CONTEXT = 4096;

const TINY: Omit<Size, 'layers'> = {
  width: 64,
  heads: 4,
  kvHeads: 2,
  head: 16,
  feedForward: 128,
  state: 16,
  vocabulary: 512,
};
const TINY_LAYERS: Record<OtherArchitecture, number> = {
  starcoder2: 3,
  cohere2: 4,
  mamba: 3,
  lfm2: 4,
  qwen35: 4,
  qwen35moe: 4,
  qwen3next: 4,
  granitehybrid: 4,
  nemotron_h: 4,
  'falcon-h1': 3,
  jamba: 4,
  deepseek2: 3,
};

/** `more`: header entries to add or replace, under their full names; `size`: by default tiny. */
export function otherModel(
  architecture: OtherArchitecture,
  dir: string,
  more: Record<string, GgufValue> = {},
  size?: Size,
): string {
  mkdirSync(dir, { recursive: true });
  const { header, tensors } = tinyModel(architecture, size);
  return writeGguf(join(dir, `${architecture}.gguf`), { ...header, ...more }, tensors);
}

interface ModelParts {
  header: Record<string, GgufValue>;
  tensors: GgufTensor[];
}

/** Header and tensors of such a model. */
export function tinyModel(
  architecture: OtherArchitecture,
  size: Size = { ...TINY, layers: TINY_LAYERS[architecture] },
): ModelParts {
  const shape = OTHER_SHAPES[architecture](size);
  const own: Record<string, GgufValue> = {
    block_count: { u32: size.layers },
    context_length: { u32: CONTEXT },
    embedding_length: { u32: size.width },
    vocab_size: { u32: size.vocabulary },
    ...shape.header,
  };
  const header: Record<string, GgufValue> = {
    'general.architecture': architecture,
    'general.name': `Random ${architecture}`,
    ...Object.fromEntries(Object.entries(own).map(([key, value]) => [`${architecture}.${key}`, value])),
    ...vocabulary(size.vocabulary),
  };
  const names: Record<string, number[]> = {
    'token_embd.weight': [size.width, size.vocabulary],
    ...shape.outputNorm,
  };
  for (let layer = 0; layer < size.layers; layer++)
    for (const [name, dims] of Object.entries(shape.tensors(layer))) names[`blk.${layer}.${name}`] = dims;
  return {
    header,
    tensors: Object.entries(names).map(([name, dims]) => ({
      name,
      shape: dims,
      data: () => floats(name, dims),
    })),
  };
}

/** Norms are around 1, decays (ssm_a) below 0, the others around 0. */
function floats(name: string, shape: number[]): Float32Array {
  const random = generator(name);
  const isNorm = /norm(\.weight)?$/.test(name);
  const spread = isNorm || shape.length === 1 ? 0.1 : spreadOf(shape);
  const values = Float32Array.from({ length: countOf(shape) }, () => {
    const value = spread * (random() + random() + random() - 1.5);
    if (name.endsWith('ssm_a')) return -0.1 - Math.abs(value);
    return isNorm ? 1 + value : value;
  });
  // The end token's logit is 0 and another token's is larger, so generation never stops early.
  if (name === 'token_embd.weight') values.fill(0, 0, shape[0]);
  return values;
}

function countOf(shape: readonly number[]): number {
  return shape.reduce((product, n) => product * n, 1);
}

function spreadOf(shape: readonly number[]): number {
  return 2 / Math.sqrt(shape[0] ?? 1);
}

/** Pseudo-random numbers from 0 to 1, seeded by name. */
function generator(name: string): () => number {
  let state = Buffer.from(name).reduce((sum, byte) => (sum * 31 + byte) >>> 0, 7);
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** GPT-2's byte alphabet, so that any text can be tokenised, plus filler tokens. */
function vocabulary(count: number): Record<string, GgufValue> {
  const texts = ['<|eos|>', '<|bos|>'];
  let extra = 0;
  for (let byte = 0; byte < 256; byte++) {
    const printable = (byte >= 33 && byte < 127) || (byte >= 161 && byte < 173) || byte >= 174;
    texts.push(String.fromCodePoint(printable ? byte : 256 + extra++));
  }
  while (texts.length < count) texts.push(`<filler${texts.length}>`);
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
