/**
 * A small part of `npm run parity`, with the real engine: one model of every family, and the demo model. The whole table takes minutes
 * and is run by hand.
 */
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { Engine } from '../src-main/engine/engine.ts';
import { type ParityCase, quickCases } from '../tools/parity/cases.ts';
import { checkModel } from '../tools/parity/checks.ts';

const DEMO = join(import.meta.dirname, '..', 'resources', 'models', 'kvasir-demo.gguf');
const CASES: ParityCase[] = [...quickCases(), { name: 'demo model', path: () => DEMO, exact: true }];

describe('parity with llama.cpp, and identities of blending', () => {
  let engine: Engine;
  beforeAll(() => {
    engine = Engine.open();
  });

  test.each(CASES)('$name', async ({ path, exact, adapter }: ParityCase) => {
    const options = { promptTokens: 161, adapter: adapter?.() };
    for (const result of await checkModel(engine, path(), exact, options)) {
      expect
        .soft(result.ok, `${result.name}: ${result.difference} > ${result.bound} (${result.note})`)
        .toBe(true);
    }
  });
});
