/**
 * A small part of `npm run parity`, with the real engine: one weight type an architecture, one scaling of positions, and
 * the demo model. The whole table takes minutes and is run by hand.
 */
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { randomModel } from '../tools/random-model/random-model.ts';
import { Engine } from '../src-main/engine/engine.ts';
import { checkModel } from '../tools/parity/checks.ts';

const shape = { layers: 3, embd: 256, heads: 4, 'kv-heads': 2, 'head-dim': 64, ff: 512 };
const DEMO = join(import.meta.dirname, '..', 'resources', 'models', 'kvasir-demo.gguf');

const CASES = [
  { name: 'llama f32', path: () => randomModel({ arch: 'llama', type: 'f32', ...shape }), exact: true },
  { name: 'qwen2 f16', path: () => randomModel({ arch: 'qwen2', type: 'f16', ...shape }), exact: true },
  {
    name: 'qwen3 f16 yarn',
    path: () => randomModel({ arch: 'qwen3', type: 'f16', rope: 'yarn', ...shape }),
    exact: true,
  },
  {
    name: 'llama q4_K llama3',
    path: () => randomModel({ arch: 'llama', type: 'q4_K', rope: 'llama3', ...shape }),
    exact: false,
  },
  { name: 'demo model', path: () => DEMO, exact: true },
];

describe('parity with llama.cpp, and identities of blending', () => {
  let engine: Engine;
  beforeAll(() => {
    engine = Engine.open();
  });

  test.each(CASES)('$name', async ({ path, exact }) => {
    for (const result of await checkModel(engine, path(), exact, { promptTokens: 161 })) {
      expect
        .soft(result.ok, `${result.name}: ${result.difference} > ${result.bound} (${result.note})`)
        .toBe(true);
    }
  });
});
