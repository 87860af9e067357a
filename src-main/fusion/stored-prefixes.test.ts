import { expect, test } from 'vitest';
import { KvasirError } from '../../src-shared/errors.ts';
import type { ChunkKv, ModelInfo } from '../engine/engine.ts';
import type { ChunkStore } from '../kvstore/store.ts';
import { model as files, openTestStore, tempDir } from '../testing/store.ts';
import { prefixHash } from '../kvstore/hash.ts';
import { Gate } from '../platform/gate.ts';
import { StoredPrefixes, type PrefixModel } from './stored-prefixes.ts';

/** A model whose prefix memory is a list of tokens; its files are those of the store's tests. */
class Memory implements PrefixModel {
  readonly info: ModelInfo;
  known = new Int32Array(0);
  imports = 0;
  fails: KvasirError | undefined;

  constructor(root = prefixHash(files.prefix)) {
    const info: Partial<ModelInfo> = { fingerprint: files.fingerprint, prefixRoot: root, kvBlockTokens: 64 };
    this.info = info as ModelInfo;
  }

  exportPrefix(tokens: Int32Array): Promise<ChunkKv | undefined> {
    const same = tokens.findIndex((token, i) => this.known[i] !== token);
    const whole = Math.floor((same < 0 ? tokens.length : same) / 64) * 64;
    return Promise.resolve(whole === 0 ? undefined : files.encodeTokens(tokens.slice(0, whole)).chunk);
  }

  openPrefix(path: string): Promise<ChunkKv> {
    return files.openChunk(path);
  }

  importPrefix(prefix: ChunkKv): Promise<void> {
    this.imports++;
    if (this.fails) return Promise.reject(this.fails);
    this.known = prefix.tokens.slice();
    return Promise.resolve();
  }
}

async function fixture(store?: ChunkStore) {
  const errors: unknown[] = [];
  const opened = store ?? (await openTestStore({ dir: tempDir() }));
  const prefixes = new StoredPrefixes({
    store: opened,
    gate: new Gate(),
    onBackgroundError: (error) => errors.push(error),
  });
  return { store: opened, prefixes, errors, model: new Memory() };
}

const TEXT = Int32Array.from({ length: 200 }, (_, i) => i + 10);

test('what a model knows is stored once, in whole blocks, and brought to the next one', async () => {
  const { store, prefixes, model } = await fixture();
  model.known = TEXT;
  prefixes.keep(model, TEXT);
  prefixes.keep(model, TEXT);
  await prefixes.idle();
  expect(store.list({ kind: 'prefix' }).map(({ tokens }) => tokens)).toEqual([192]);

  const { prefixes: after, model: restarted } = await fixture(store);
  expect(await after.bring(restarted, TEXT, 0)).toBe(true);
  expect(restarted.known).toEqual(TEXT.slice(0, 192));
  expect(after.restored(restarted, TEXT, 192)).toBe(192);
  expect(after.restored(restarted, TEXT, 64)).toBe(64);
  expect(await after.bring(restarted, TEXT, 192)).toBe(false);
  expect(restarted.imports).toBe(1);
});

test('the longest stored beginning of a text is brought, and no other', async () => {
  const { store, prefixes, model } = await fixture();
  const other = TEXT.map((token, i) => (i < 64 ? token : -token));
  for (const text of [TEXT.slice(0, 128), other]) {
    model.known = text;
    prefixes.keep(model, text);
    await prefixes.idle();
  }
  expect(store.list({ kind: 'prefix' })).toHaveLength(2);
  expect(await prefixes.bring(model, TEXT, 0)).toBe(true);
  expect(model.known).toEqual(TEXT.slice(0, 128));
  expect(prefixes.restored(model, other, 192)).toBe(64); // both begin alike
  expect(
    await prefixes.bring(
      model,
      TEXT.map((token) => -token),
      0,
    ),
  ).toBe(false);
});

test('a session leaves two tokens to compute: the block that ends the text is not brought again and again', async () => {
  const { prefixes, model } = await fixture();
  const text = TEXT.slice(0, 128);
  model.known = text;
  prefixes.keep(model, text);
  await prefixes.idle();
  expect(await prefixes.bring(model, text, 64)).toBe(false);
});

test('a checkpoint of libllama is brought only where all of it is the beginning of the text', async () => {
  const { store, prefixes, model, errors } = await fixture();
  model.info.engine = 'llama';
  const checkpoint = TEXT.slice(0, 150); // no whole number of blocks
  model.exportPrefix = () => Promise.resolve(files.encodeTokens(checkpoint.slice()).chunk);
  prefixes.keep(model, checkpoint, 'notes.md');
  await prefixes.idle();
  expect(errors).toEqual([]);
  expect(store.list({ kind: 'prefix' })).toMatchObject([{ tokens: 150, label: 'notes.md' }]);
  const other = TEXT.map((token, i) => (i < 149 ? token : -token));
  expect(await prefixes.bring(model, other, 0)).toBe(false);
  expect(await prefixes.bring(model, TEXT.slice(0, 151), 0)).toBe(false); // leaves one token to compute
  expect(await prefixes.bring(model, TEXT, 100)).toBe(false); // no block more than is known
  expect(await prefixes.bring(model, TEXT, 0)).toBe(true);
  expect(prefixes.restored(model, TEXT, 150)).toBe(150);
  expect(prefixes.restored(model, other, 149)).toBe(0);
});

test('another number format is another root, and finds nothing', async () => {
  const { store, prefixes, model } = await fixture();
  model.known = TEXT;
  prefixes.keep(model, TEXT);
  await prefixes.idle();
  const { prefixes: after } = await fixture(store);
  expect(await after.bring(new Memory('c'.repeat(64)), TEXT, 0)).toBe(false);
});

test('nothing is stored of a text shorter than a block, or of one that the model does not know', async () => {
  const { store, prefixes, model, errors } = await fixture();
  model.known = TEXT.slice(0, 63);
  prefixes.keep(model, TEXT.slice(0, 63));
  prefixes.keep(model, TEXT);
  await prefixes.idle();
  expect(store.list()).toEqual([]);
  expect(errors).toEqual([]);
});

test('a file that the model refuses is none, and is set aside; without memory it stays for later', async () => {
  const { store, prefixes, model, errors } = await fixture();
  model.known = TEXT;
  prefixes.keep(model, TEXT);
  await prefixes.idle();
  model.fails = new KvasirError('OUT_OF_MEMORY', 'no memory is left');
  expect(await prefixes.bring(model, TEXT, 0)).toBe(false);
  expect(errors).toEqual([model.fails]);
  expect(store.list()).toHaveLength(1);
  model.fails = new KvasirError('CHUNK_CORRUPT', 'a checksum is wrong');
  expect(await prefixes.bring(model, TEXT, 0)).toBe(false);
  expect(store.list()).toHaveLength(0);
  expect(store.stats().quarantine.files).toBe(1);
  expect(errors).toHaveLength(1);
});

test('stopped, it stores nothing more', async () => {
  const { store, prefixes, model } = await fixture();
  model.known = TEXT;
  prefixes.keep(model, TEXT);
  await prefixes.stop();
  expect(store.list()).toEqual([]);
});
