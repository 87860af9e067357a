/** What the crash test's parent and its victims agree on. */
import { chunkKey } from '../../src-main/kvstore/store.ts';
import type { KvDtype, Model } from '../../src-main/engine/engine.ts';

export const CHUNKS = 32;
const TOKENS = 96;

/** One thread: the same arithmetic in every process, so that KV can be compared bit by bit. */
export const MODEL_OPTIONS = { threads: 1, device: 'cpu' };

export interface PlannedChunk {
  key: string;
  tokens: Int32Array;
  dtype: KvDtype;
}

/** The chunks of every run; `vocab` is the model's. */
export function plan(model: Model): PlannedChunk[] {
  return Array.from({ length: CHUNKS }, (_, id) => {
    const tokens = Int32Array.from(
      { length: TOKENS },
      (_, i) => 3 + ((id * 131 + i * (7 + id)) % (model.info.vocabSize - 3)),
    );
    const dtype: KvDtype = id % 4 === 3 ? 'q8_0' : 'f16';
    return {
      key: chunkKey({ fingerprint: model.info.fingerprint, prefix: model.encodingPrefix, dtype, tokens }),
      tokens,
      dtype,
    };
  });
}

/** Numbers in [0, 1) that follow from the seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The order in which a seed's run stores its chunks. */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = randomFrom(seed);
  const left = [...items];
  const order: T[] = [];
  while (left.length > 0) order.push(...left.splice(Math.floor(random() * left.length), 1));
  return order;
}
