/** Selection of the engine for a file from its header alone, and the error for each kind of file that no engine supports. */
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Engine, type GgufInfo } from '../src-main/engine/engine.ts';
import { randomModel } from '../tools/random-model/random-model.ts';
import { writeGguf, type GgufValue } from '../tools/random-model/gguf.ts';
import { withMetadata } from './support/gguf-metadata.ts';
import { otherModel } from '../tools/random-model/other-models.ts';
import type { OtherArchitecture } from '../tools/random-model/other-shapes.ts';

let engine: Engine;
let dir: string;
beforeAll(() => {
  engine = Engine.open();
  dir = mkdtempSync(join(tmpdir(), 'kvasir-choice-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function headerOnly(header: Record<string, GgufValue>): string {
  return writeGguf(join(dir, 'header.gguf'), header);
}

function inspect(header: Record<string, GgufValue>): GgufInfo {
  return engine.inspect(headerOnly(header));
}

describe('which engine', () => {
  test('ours runs the families that it blends', () => {
    const info = engine.inspect(randomModel({ arch: 'qwen3', type: 'f16', layers: 2 }));
    expect(info).toMatchObject({ engine: 'blending', obstacle: '', unsupportedReason: '' });
    expect(info.kvValuesPerToken).toBe(2 * info.layers * info.kvHeads * info.headDims[0]!);
  });

  test.each([
    ['mamba', 'running-state', 0, 3 * (128 * 16 + 128 * 4)],
    ['lfm2', 'running-state', 2 * 2 * 2 * 16, 2 * 64 * 3],
    ['qwen35', 'running-state', 2 * 2 * 16, 3 * (64 * 16 + 64 * 4)],
    ['deepseek2', 'compressed-kv', 3 * (64 + 8), 0],
    ['starcoder2', 'architecture', 3 * 2 * 2 * 16, 0],
  ] as const)('libllama runs %s', (architecture, obstacle, kvValuesPerToken, stateValues) => {
    expect(engine.inspect(otherModel(architecture, dir))).toMatchObject({
      engine: 'llama',
      obstacle,
      unsupportedReason: '',
      kvValuesPerToken,
      stateValues,
    });
  });
});

describe('no engine', () => {
  const cases: [what: string, header: Record<string, GgufValue>, says: RegExp][] = [
    ['an unknown architecture', { 'general.architecture': 'gpt9' }, /"gpt9" is not known/],
    ['a projector', { 'general.architecture': 'clip', 'general.type': 'mmproj' }, /projector/],
    ['an older projector', { 'general.architecture': 'clip' }, /projector/],
    ['an adapter', { 'general.architecture': 'llama', 'general.type': 'adapter' }, /adapter \(LoRA\)/],
    ['a draft head', { 'general.architecture': 'eagle3' }, /draft head/],
    ['another draft head', { 'general.architecture': 'dflash' }, /draft head/],
    ['an importance matrix', { 'general.type': 'imatrix' }, /importance matrix/],
    ['a control vector', { 'general.architecture': 'controlvector' }, /control vector/],
    ['a reranker', { 'general.architecture': 'bert', 'bert.pooling_type': { u32: 4 } }, /reranker/],
    ['an encoder with a decoder', { 'general.architecture': 't5' }, /encoder with a decoder/],
    ['a diffusion model', { 'general.architecture': 'llada' }, /diffusion/],
    ['a voice', { 'general.architecture': 'wavtokenizer-dec' }, /sound/],
    ['an embedding model', { 'general.architecture': 'modern-bert' }, /embedding model/],
  ];
  test.each(cases)('%s has a specific error', async (_, header, says) => {
    const info = inspect(header);
    expect(info).toMatchObject({ engine: 'none', obstacle: '' });
    expect(info.unsupportedReason).toMatch(says);
    expect(info.unsupportedReason).toMatch(/^[A-Z].*\.$/);
    const loading = engine.loadModel(headerOnly(header), { device: 'cpu' });
    await expect(loading).rejects.toMatchObject({ code: 'MODEL_UNSUPPORTED' });
    await expect(loading).rejects.toThrow(says);
  });

  test.each([
    [0, /it is part 1 of 3, and its name does not end with -00001-of-00003\.gguf/],
    [1, /it is part 2 of 3/],
  ])('part %i of a renamed split model is refused', (no, says) => {
    const header = { 'general.architecture': 'qwen3', 'split.no': { u32: no }, 'split.count': { u32: 3 } };
    expect(() => inspect(header)).toThrow(says);
  });

  test('a file without an architecture is not a model', () => {
    expect(() => inspect({ 'general.name': 'x' })).toThrow(/does not name its architecture/);
  });

  test('a truncated file is reported as such', () => {
    const path = otherModel('mamba', dir);
    truncateSync(path, readFileSync(path).length - 5000);
    expect(() => engine.inspect(path)).toThrow(/cut short/);
    writeFileSync(path, 'not a model');
    expect(() => engine.inspect(path)).toThrow(/GGUF/);
  });
});

describe('an impossible header', () => {
  const MOST = 2 ** 32 - 1;
  const cases: [OtherArchitecture, string, GgufValue][] = [
    ['mamba', 'mamba.block_count', { u32: MOST }],
    ['mamba', 'mamba.ssm.state_size', { u32: MOST }],
    ['mamba', 'mamba.ssm.conv_kernel', { u32: MOST }],
    ['mamba', 'mamba.embedding_length', { u32: 0 }],
    ['mamba', 'mamba.context_length', { u32: 0 }],
    ['starcoder2', 'starcoder2.attention.head_count', { u32: MOST }],
    ['starcoder2', 'starcoder2.attention.layer_norm_epsilon', { f32: NaN }],
    ['starcoder2', 'starcoder2.rope.freq_base', { f32: Infinity }],
    ['starcoder2', 'starcoder2.embedding_length', { u32: 65 }],
    ['lfm2', 'lfm2.shortconv.l_cache', { u32: 0 }],
    ['lfm2', 'lfm2.block_count', { u32: 1000 }],
    ['mamba', 'mamba.attention.layer_norm_rms_epsilon', { f32: -1 }],
    ['mamba', 'mamba.expert_count', { u32: 8 }],
    ['deepseek2', 'deepseek2.expert_used_count', { u32: 9 }],
    ['deepseek2', 'deepseek2.expert_group_count', { u32: 3 }],
    ['deepseek2', 'deepseek2.expert_group_count', { u32: 8 }],
    ['qwen35', 'qwen35.nextn_predict_layers', { u32: 4 }],
    ['qwen35', 'qwen35.rope.scaling.type', 'sideways'],
    ['lfm2', 'general.alignment', { u32: 16 }],
    ['cohere2', 'cohere2.rope.dimension_count', { u32: 3 }],
    ['cohere2', 'cohere2.rope.dimension_count', { u32: 64 }],
    ['starcoder2', 'tokenizer.ggml.tokens', { texts: ['a', 'a'] }],
  ];
  test.each(cases)('%s: %s', (architecture, key, value) => {
    const path = otherModel(architecture, dir, { [key]: value });
    expect(() => engine.inspect(path)).toThrow(expect.objectContaining({ code: 'MODEL_INVALID' }));
  });

  test.each([
    ['starcoder2', { 'starcoder2.block_count': { u32: 4 } }],
    ['mamba', { 'mamba.ssm.inner_size': { u32: 64 } }],
  ] as const)('%s whose weights do not match its header', async (architecture, more) => {
    const path = otherModel(architecture, dir, more);
    await expect(engine.loadModel(path, { device: 'cpu' })).rejects.toMatchObject({ code: 'MODEL_INVALID' });
  });
});

describe.each([
  ['ours', () => randomModel({ arch: 'llama', type: 'f16', layers: 2 })],
  ['libllama', () => otherModel('starcoder2', dir)],
] as const)('an unusable vocabulary, in a model for %s', (_, sound) => {
  const key = 'tokenizer.ggml.model';
  test.each([
    ['none', 'no_vocab', 'MODEL_UNSUPPORTED', /has no vocabulary/],
    ['SentencePiece without byte tokens', 'llama', 'MODEL_INVALID', /lacks tokens/],
  ] as const)('%s', async (_what, kind, code, says) => {
    const path = join(dir, 'vocabulary.gguf');
    withMetadata(sound(), path, { without: key, values: { [key]: kind } });
    const loading = engine.loadModel(path, { device: 'cpu' });
    await expect(loading).rejects.toMatchObject({ code });
    await expect(loading).rejects.toThrow(says);
  });
});
