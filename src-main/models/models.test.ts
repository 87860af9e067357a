import { expect, test } from 'vitest';
import type { GgufInfo } from '../engine/engine.ts';
import { chooseModel } from './model-defaults.ts';
import { describeModel } from './registry/describe.ts';

const PATHS = { demoModel: '/r/demo.gguf' };

test('the demo model is the default, with the chunk size it was trained on', () => {
  for (const path of [undefined, PATHS.demoModel]) {
    const choice = chooseModel(path, PATHS);
    expect([choice.path, choice.chunkTokens({ contextTrain: 2048 })]).toEqual(['/r/demo.gguf', 96]);
  }
});

test.each([
  [131_072, 512],
  [4096, 512],
  [2048, 256],
  [64, 16],
  [0, 512],
])('a model with a context of %i gets chunks of %i tokens', (contextTrain, expected) => {
  expect(chooseModel('/m.gguf', PATHS).chunkTokens({ contextTrain })).toBe(expected);
});

test('a model that does not run here says why', () => {
  const known: Partial<GgufInfo> = {
    unsupportedReason: 'it is a mamba',
    tensorTypes: {},
    headDims: [64],
    chatTemplate: '',
    name: '',
    fileBytes: 1,
    parameterCount: 1,
  };
  const lines = new Map(describeModel(known as GgufInfo));
  expect(lines.get('Runs here')).toBe('no: it is a mamba');
  expect(lines.get('Name')).toBe('(none)');
});

test('layers that read the KV of earlier ones, and heads of several sizes, are told', () => {
  const known: Partial<GgufInfo> = {
    ...{ unsupportedReason: '', obstacle: '', tensorTypes: {}, chatTemplate: '', name: '', fileBytes: 1 },
    ...{ layers: 35, kvLayers: 15, windows: [512, 0], heads: 8, kvHeads: 1, headDims: [256, 512] },
  };
  const lines = new Map(describeModel(known as GgufInfo));
  expect(lines.get('Layers')).toBe('35, of which the last 20 read the KV of earlier ones');
  expect(lines.get('Attention')).toBe('8 heads, 1 KV heads, 256 or 512 wide');
});

test('a model that runs without blending says so, and why', () => {
  const known: Partial<GgufInfo> = {
    ...{ engine: 'llama', obstacle: 'running-state', unsupportedReason: '', kvValuesPerToken: 0 },
    ...{ tensorTypes: {}, headDims: [], chatTemplate: '', name: 'Qwen3.6', fileBytes: 1, parameterCount: 1 },
  };
  expect(new Map(describeModel(known as GgufInfo)).get('Runs here')).toBe(
    'yes, by llama.cpp: Qwen3.6 keeps a running state instead of KV; its passages cannot be blended yet.',
  );
});
