/** LoRA adapters in the app: cache separation, refused adapters, and library updates. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { App } from '../src-main/app.ts';
import { otherModel } from '../tools/random-model/other-models.ts';
import { randomAdapter } from '../tools/random-model/random-model.ts';
import {
  chunkFiles,
  DOCUMENTS,
  expectFailure,
  makeModel,
  QUESTION,
  removeDir,
  tempDir,
  writeFiles,
  type CliResult,
} from './cli-support.ts';
import { runHere } from './support/in-process.ts';
import { startWithoutSample } from './support/ready-library.ts';

interface AskOutput {
  model: { fingerprint: string; adapter?: string };
  library: { precomputed: { computed: number; stored: number } };
}

const PATIENCE = { timeout: 120_000 };

let dir: string;
let model: string;
let adapter: string;
let library: string;
beforeAll(() => {
  dir = tempDir();
  model = makeModel(join(dir, 'model.gguf'));
  adapter = randomAdapter(model);
  library = writeFiles(join(dir, 'docs'), DOCUMENTS);
});
afterAll(() => removeDir(dir));

describe('the command line', () => {
  const ask = (...flags: string[]): Promise<CliResult> =>
    runHere([
      ...['ask', '--data', join(dir, 'cli'), '--library', library, '--threads', '1'],
      ...['--max-tokens', '8', '--chunk-tokens', '64', '--json', ...flags, QUESTION],
    ]);
  const asked = async (...flags: string[]): Promise<AskOutput> => {
    const { stdout, stderr, code } = await ask('--model', model, ...flags);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout) as AskOutput;
  };

  test('KV computed with an adapter is not used without it, and vice versa', async () => {
    const plain = await asked();
    const alone = chunkFiles(join(dir, 'cli')).size;
    expect(plain.library.precomputed.computed).toBeGreaterThan(0);
    const changed = await asked('--adapter', adapter);
    expect(changed.library.precomputed).toMatchObject({ computed: plain.library.precomputed.computed });
    expect(changed.model).toMatchObject({ adapter });
    expect(changed.model.fingerprint).not.toBe(plain.model.fingerprint);
    expect(chunkFiles(join(dir, 'cli')).size).toBe(2 * alone);
    for (const flags of [[], ['--adapter', adapter]]) {
      expect((await asked(...flags)).library.precomputed).toMatchObject({ computed: 0 });
    }
  });

  test('an adapter for another model, a missing one, and a model that supports none are refused', async () => {
    const other = randomAdapter(makeModel(join(dir, 'qwen2.gguf'), { arch: 'qwen2' }));
    expectFailure(await ask('--model', model, '--adapter', other), 'ADAPTER_MISMATCH');
    expectFailure(await ask('--model', model, '--adapter', join(dir, 'absent.gguf')), 'ADAPTER_INVALID');
    expectFailure(await ask('--model', model, '--adapter', model), 'ADAPTER_INVALID');
    const mamba = otherModel('mamba', dir);
    expectFailure(await ask('--model', mamba, '--adapter', adapter), 'ADAPTER_UNSUPPORTED');
    expect(existsSync(adapter)).toBe(true);
  });
});

test('adding an adapter recomputes a library; removing it makes the first cache usable again', async () => {
  const app = await App.open({
    dataDir: join(dir, 'window'),
    overrides: { threads: 1, maxTokens: 8, chunkTokens: 64 },
  });
  try {
    await startWithoutSample(app);
    const { id } = await app.models.import(model);
    await app.loader.activate(id);
    const docs = app.libraries.create('Docs');
    await app.libraries.addPaths({ id: docs.id, paths: [library], watch: false });
    const counts = (): unknown => {
      const { chunks, cachedChunks } = app.libraries.list().find(({ id: each }) => each === docs.id)!;
      return { chunks, cachedChunks };
    };
    const done = { chunks: 7, cachedChunks: 7 }; // with this tokenizer's chunking
    await expect.poll(counts, PATIENCE).toEqual(done);
    await app.models.setAdapter(id, adapter);
    const stored = (): number[] => app.store.totals().map(({ entries }) => entries);
    await expect.poll(stored, PATIENCE).toEqual([7, 7]);
    await app.models.setAdapter(id, null);
    await expect.poll(counts, PATIENCE).toEqual(done);
    expect(app.cache.impact(id)).toMatchObject({ cachedChunks: 7, tokensToCompute: 0 });
    expect(stored()).toEqual([7, 7]);
  } finally {
    await app.close();
  }
});
