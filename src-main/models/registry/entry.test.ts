import { expect, test } from 'vitest';
import type { GgufInfo } from '../../engine/engine.ts';
import { modelName } from './entry.ts';

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
  ['通义千问 7B', 'qwen-7b-f16.gguf', '通义千问 7B'],
])('a model that says it is %j in %j is %j in lists', (name, file, shown) => {
  expect(modelName({ name: null, header: { name } as GgufInfo, path: `/models/${file}` })).toBe(shown);
});
