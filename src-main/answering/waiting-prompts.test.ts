import { expect, onTestFinished, test } from 'vitest';
import type { ChunkKv } from '../engine/engine.ts';
import type { SharedTier } from '../kvstore/store.ts';
import { FakeModel } from '../testing/fusion.ts';
import { FolderTier } from '../testing/shared-tier.ts';
import { fake, openTestStore, FakeModel as StoredModel, take, tempDir } from '../testing/store.ts';
import type { Passage } from './passages.ts';
import { WaitingPrompts } from './waiting-prompts.ts';

const BYTES = 999;
const IDS = [10, 11, 12, 13, 14, 15];

/** Opens chunk files; the KV of each is read once the test lets it. */
class OpeningModel extends FakeModel {
  readonly files: StoredModel;
  held: Promise<undefined> | undefined;

  constructor(files: StoredModel) {
    super({ fingerprint: files.fingerprint });
    this.files = files;
  }

  override bytesPerToken(): number {
    return BYTES / 3; // a chunk has three tokens
  }

  override async openChunk(path: string): Promise<ChunkKv> {
    const chunk = await this.files.openChunk(path);
    fake(chunk).gate = this.held;
    return chunk;
  }

  receiveChunk(...arrived: Parameters<StoredModel['receiveChunk']>): ChunkKv {
    return this.files.receiveChunk(...arrived);
  }
}

interface Fixture {
  ramBudgetBytes?: number;
  prefetch?: boolean;
  stored?: readonly number[];
  shared?: SharedTier;
}

/** Chunks that a search finds by their ids. By default a quarter of the memory holds three of their files. */
async function fixture({ ramBudgetBytes = 14 * BYTES, prefetch = true, stored = IDS, shared }: Fixture = {}) {
  const files = new StoredModel();
  const model = new OpeningModel(files);
  const store = await openTestStore({ dir: tempDir(), ramBudgetBytes, ...(shared && { shared }) });
  for (const id of stored) {
    const { key, chunk } = files.encode(id, BYTES);
    await store.put(key, chunk);
  }
  const failures: unknown[] = [];
  const waiting = new WaitingPrompts({
    models: { active: { name: 'Fake', model } },
    store,
    words: { byWords: async (question) => question.split(' ').map(Number) },
    passages: {
      chunk: (id) => ({ tokens: files.encode(id).chunk.tokens }) as Passage,
    },
    settings: { current: { prefetch, dtype: 'f16' } },
    log: { debug: (_, fields) => failures.push(fields) },
  });
  const add = (question: string) => {
    const prompt = waiting.add(() =>
      waiting.search(question, { scope: { libraryIds: [], documentIds: [] } }),
    );
    onTestFinished(() => prompt.end());
    return prompt;
  };
  const keyOf = (id: number): string => files.encode(id, BYTES).key;
  const inRam = (): number[] => IDS.filter((id) => store.entry(keyOf(id))?.inRam === true);
  const opened = (): number[] => files.opened.map(({ tokens }) => tokens[0] ?? 0);
  return { store, model, waiting, add, keyOf, inRam, opened, failures };
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

test('the chunks of a prompt that waits are in memory when its turn comes, each read once', async () => {
  const { store, model, add, inRam, opened, keyOf } = await fixture();
  const prompt = add('10 11');
  await expect.poll(inRam).toEqual([10, 11]);
  expect(prompt.atHand()).toBe(2 * BYTES);
  prompt.end();
  const leases = [await take(store, keyOf(10), model), await take(store, keyOf(11), model)];
  expect(leases.map(({ tier, prefetched }) => [tier, prefetched])).toEqual(Array(2).fill(['ram', true]));
  expect(opened()).toEqual([10, 11]);
  for (const lease of leases) lease.release();
});

test('a prompt whose turn comes joins what is being read', async () => {
  const { store, model, add, opened, keyOf } = await fixture();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  model.held = promise;
  const prompt = add('10');
  await expect.poll(opened).toEqual([10]);
  await settled();
  prompt.end();
  const taking = take(store, keyOf(10), model);
  await settled();
  resolve(undefined);
  const lease = await taking;
  expect(lease.tier).toBe('ram');
  expect(opened()).toEqual([10]);
  lease.release();
});

test('a prompt that is stopped ends its loading; the next one’s goes on', async () => {
  const { model, add, inRam, opened } = await fixture();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  model.held = promise;
  const stopped = add('10 11 12');
  add('13');
  await expect.poll(opened).toEqual([10]);
  stopped.end();
  model.held = undefined;
  resolve(undefined);
  await expect.poll(inRam).toEqual([10, 13]);
  expect(opened()).toEqual([10, 13]);
});

test('those that wait take a quarter of the memory, in the order of arrival, and make room when they begin', async () => {
  const { add, inRam } = await fixture();
  const first = add('10 11');
  add('12 13');
  add('14');
  await expect.poll(inRam).toEqual([10, 11, 12]);
  await settled();
  expect(inRam()).toEqual([10, 11, 12]);
  first.end();
  await expect.poll(inRam).toEqual([10, 11, 12, 14]);
});

test('what others use or have used is at hand, before anything is loaded', async () => {
  const { store, model, add, opened, keyOf } = await fixture({ prefetch: false });
  const [sharing, other] = [add('10 11'), add('12')];
  await settled();
  expect([sharing.atHand(), other.atHand()]).toEqual([0, 0]);
  const lease = await take(store, keyOf(11), model);
  expect([sharing.atHand(), other.atHand()]).toEqual([BYTES, 0]);
  lease.release();
  await store.idle();
  expect(sharing.atHand()).toBe(BYTES);
  expect(opened()).toEqual([11]);
});

test('chunks of another machine come while a prompt waits, and are used without a second transfer', async () => {
  const shared = new FolderTier(tempDir());
  const there = await openTestStore({ dir: tempDir(), shared });
  const { key, chunk } = new StoredModel().encode(10, BYTES);
  await there.put(key, chunk);
  const { store, model, add, inRam } = await fixture({ shared, stored: [11] });
  add('10 11').atHand();
  await expect.poll(inRam).toEqual([10, 11]);
  const lease = await take(store, key, model);
  expect(lease.tier).toBe('ram');
  expect(shared.opened).toEqual([key]);
  lease.release();
});

test('a prompt whose chunks cannot be found does not keep others from loading', async () => {
  const { waiting, add, inRam, failures } = await fixture();
  const prompt = waiting.add(() => Promise.reject(new Error('too long')));
  add('10');
  await expect.poll(inRam).toEqual([10]);
  expect(failures).toEqual([{ error: 'Error: too long' }]);
  expect(prompt.atHand()).toBe(0);
  prompt.end();
});

test('nothing is loaded for a model that does not blend', async () => {
  const { model, opened, add } = await fixture();
  Object.defineProperty(model, 'blends', { value: false });
  add('10').atHand();
  await settled();
  expect(opened()).toEqual([]);
});
