/**
 * A small part of `npm run parity`, with the real engine: one model of every family, the demo model, and published ones. `npm run test:full`
 * has larger models and longer prompts. The full run takes minutes and is started manually.
 */
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { Engine } from '../src-main/engine/engine.ts';
import { type ParityCase, quickCases } from '../tools/parity/cases.ts';
import { GEMMA_FILE, published, SMOLLM2_FILE } from '../tools/models/files.ts';
import { checkModel, SMALL_EXTENT } from '../tools/parity/checks.ts';
import { FULL } from './support/full.ts';

const DEMO = join(import.meta.dirname, '..', 'resources', 'models', 'kvasir-demo.gguf');
/** Published models, if `npm run models` has downloaded them. */
const PUBLISHED = [SMOLLM2_FILE, GEMMA_FILE].flatMap((file): ParityCase[] => {
  const path = published(file);
  return path === undefined ? [] : [{ name: file, path: () => path, exact: false }];
});
const CASES: ParityCase[] = [
  ...quickCases({ small: !FULL }),
  { name: 'demo model', path: () => DEMO, exact: true },
  ...PUBLISHED,
];

describe('parity with llama.cpp, and identities of blending', () => {
  let engine: Engine;
  beforeAll(() => {
    engine = Engine.open();
  });

  test.each(CASES)('$name', async ({ path, exact, adapter }: ParityCase) => {
    const options = { ...(FULL ? { promptTokens: 161 } : SMALL_EXTENT), adapter: adapter?.() };
    for (const result of await checkModel(engine, path(), exact, options)) {
      expect
        .soft(result.ok, `${result.name}: ${result.difference} > ${result.bound} (${result.note})`)
        .toBe(true);
    }
  });
});
