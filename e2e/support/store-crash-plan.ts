/** Shared by the crash test's parent and its victims: a tiny model, and chunks to encode with it. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { chunkKey } from '../../src-main/kvstore/store.ts';
import { randomFrom } from '../../src-main/testing/random.ts';
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

/** Writes a random-weight model into a folder; returns its path. */
export function makeModel(dir: string, seed = 1): string {
  const path = join(dir, 'model.gguf');
  const shape =
    '--layers 4 --embd 128 --heads 4 --kv-heads 2 --head-dim 32 --ff 256 --vocab 512 --context 1024';
  const program = process.platform === 'win32' ? 'kvasir-mkgguf.exe' : 'kvasir-mkgguf';
  const mkgguf = join(import.meta.dirname, '..', '..', 'build', 'native', program);
  execFileSync(mkgguf, ['--out', path, '--seed', String(seed), ...shape.split(' ')]);
  return path;
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

/** The order in which a seed's run stores its chunks. */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = randomFrom(seed);
  const left = [...items];
  const order: T[] = [];
  while (left.length > 0) order.push(...left.splice(Math.floor(random() * left.length), 1));
  return order;
}
