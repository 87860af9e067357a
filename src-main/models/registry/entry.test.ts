import { expect, test } from 'vitest';
import type { GgufInfo } from '../../engine/engine.ts';
import { inspectedOf, modelName } from './entry.ts';

test.each([
  [' Tiny 1B ', 'Tiny 1B'],
  ['Tiny\n\t1B\0', 'Tiny 1B'],
  ['x'.repeat(10_000), 'x'.repeat(200)],
  ['\n', 'file'],
])('a model that says it is %j is %j in lists', (name, shown) => {
  expect(modelName({ name: null, header: { name } as GgufInfo, path: '/models/file.GGUF' })).toBe(shown);
});

test.each([
  ['Smollm2 135M 8k Lc100K Mix1 Ep2', 'smollm2-135m-instruct-q4_1.gguf', 'smollm2-135m-instruct'],
  ['', 'phi-4-mini.IQ3_XS.gguf', 'phi-4-mini'],
  ['Qwen2.5 7B Instruct', 'qwen2.5-7b-instruct-q4_k_m-00001-of-00002.gguf', 'Qwen2.5 7B Instruct'],
  ['Meta Llama 3.1 8B Instruct', 'Llama-3.1-8B-Instruct-Q8_0.gguf', 'Meta Llama 3.1 8B Instruct'],
  ['Gemma 3 4b It', 'model.gguf', 'Gemma 3 4b It'],
  ['LLaMA v2', 'codellama-7b-instruct.Q4_K_M.gguf', 'codellama-7b-instruct'],
  ['a09a35458c702b33eeacc393d103063234e8bc28', 'qwen2.5-7b-instruct.gguf', 'qwen2.5-7b-instruct'],
  ['/workspace/merged', 'phi-4.gguf', 'phi-4'],
  ['', 'models--unsloth--gemma-3-4b-it-GGUF/snapshots/0a1b/model-q8_0.gguf', 'gemma-3-4b-it-GGUF'],
  ['model', 'bartowski/Aya-8B/ggml-model-q4_0.gguf', 'Aya-8B'],
  ['通义千问 7B', 'qwen-7b-f16.gguf', '通义千问 7B'],
])('a model that says it is %j in %j is %j in lists', (name, file, shown) => {
  expect(modelName({ name: null, header: { name } as GgufInfo, path: `/models/${file}` })).toBe(shown);
});

test('a model without a chat template is a base model, unless it is for search or on a server', () => {
  const isBase = (header: Partial<GgufInfo>) =>
    inspectedOf({
      name: null,
      path: '/models/m.gguf',
      header: { name: '', obstacle: '', ...header } as GgufInfo,
    }).baseModel;
  expect(isBase({ chatTemplate: '' })).toBe(true);
  expect(isBase({ chatTemplate: '{{ messages }}' })).toBeUndefined();
  expect(isBase({ chatTemplate: '', embedding: true })).toBeUndefined();
  expect(isBase({ chatTemplate: '', reranker: true })).toBeUndefined();
  expect(isBase({ chatTemplate: '', obstacle: 'remote' })).toBeUndefined();
});
