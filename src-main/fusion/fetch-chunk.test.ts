import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Machine, prompt } from '../testing/machine.ts';
import { FolderTier } from '../testing/shared-tier.ts';
import { FakeModel, openTestStore, tempDir } from '../testing/store.ts';
import { fetchChunk } from './fetch-chunk.ts';
import { CostModel } from './planning/cost-model.ts';

const TOKENS = Int32Array.from({ length: 300 }, (_, i) => i);

/** A chunk that one machine has stored, and the machine that wants it. */
async function wanted() {
  const machine = new Machine();
  const { info } = machine;
  const encoder = new FakeModel(info.fingerprint);
  const tier = new FolderTier(tempDir());
  const first = await openTestStore({ dir: tempDir(), shared: tier });
  const { key, chunk } = encoder.encodeTokens(TOKENS);
  await first.put(key, chunk);
  const store = await openTestStore({ dir: tempDir(), shared: tier });
  const costs = new CostModel(join(tempDir(), 'costs.json'));
  costs.observe(info, machine.run(prompt(4, 256, null), { kind: 'full' }));
  const model = { info, encodingPrefix: encoder.prefix, bytesPerToken: () => 2000 };
  const chunkOf = { tokens: TOKENS, dtype: 'f16', label: 'handbook.md' } as const;
  const fetch = (signal?: AbortSignal): Promise<boolean> =>
    fetchChunk(chunkOf, { model, store, costs, signal });
  return { tier, store, costs, key, fetch };
}

test('a chunk that another machine has is fetched, not computed, also before anything was measured', async () => {
  const { store, key, fetch } = await wanted();
  expect(await fetch()).toBe(true);
  expect(store.entry(key)).toMatchObject({ label: 'handbook.md', tokens: 300 });
});

test('over a line so slow that computing is clearly sooner it is not asked for', async () => {
  const { tier, store, costs, key, fetch } = await wanted();
  costs.observeTransfer({ values: 1, bytes: 1e6, ms: 60_000 });
  tier.asked.length = 0;
  expect(await fetch()).toBe(false);
  expect(tier.asked).toEqual([]);
  expect(store.has(key)).toBe(false);
});

test('where nobody has it there is nothing to fetch', async () => {
  const { tier, store, fetch } = await wanted();
  tier.has = () => Promise.resolve(new Set());
  expect(await fetch()).toBe(false);
  expect(store.stats().entries).toBe(0);
});

test('who asked for it can stop waiting, and it is here next time all the same', async () => {
  const { tier, store, key, fetch } = await wanted();
  const { promise: answered, resolve: answer } = Promise.withResolvers<undefined>();
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<undefined>();
  tier.onRead = async (_key, _from, range) => {
    isAsked(undefined);
    await answered;
    return range;
  };
  const stop = new AbortController();
  const fetching = fetch(stop.signal);
  await asked;
  stop.abort();
  await expect(fetching).rejects.toMatchObject({ code: 'ABORTED' });
  answer(undefined);
  await store.idle();
  expect(store.has(key)).toBe(true);
});
