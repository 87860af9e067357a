import { chooseVictims } from '../../src-main/kvstore/evict.ts';
import { LRU } from '../../src-main/kvstore/eviction/policy.ts';
import { ChunkIndex, type ChunkRow } from '../../src-main/kvstore/index-db.ts';
import { MIGRATIONS } from '../../src-main/kvstore/schema.ts';
import { openDatabase } from '../../src-main/platform/database.ts';

const CLASSES = ['chat', 'analysis', 'api', 'prefetch'];
const BYTES = 1_000_000;

/** An index of this many stored chunks without their files; returns the decision for one more, and the index's end. */
export async function evictionOf(
  path: string,
  entries: number,
): Promise<{ decide: () => void; close: () => void }> {
  const database = openDatabase(path, MIGRATIONS);
  const index = await ChunkIndex.open(database, (error) => {
    throw error;
  });
  database.transaction(() => {
    for (let i = index.entriesIn(''); i < entries; i++) index.insert(entry(i));
  });
  let order = entries;
  const decide = (): void => {
    const { rows } = chooseVictims(
      index.candidates('chunk'),
      LRU,
      { bytes: BYTES, most: 100 },
      () => false,
      order,
    );
    for (const row of rows) index.use(row, { ...row, order: ++order });
  };
  return { decide, close: () => index.close() };
}

/** The index's row of the i-th chunk. */
export function entry(i: number): ChunkRow {
  return {
    ...{
      key: String(i).padStart(64, '0'),
      folder: '',
      kind: 'chunk',
      fingerprint: 'f'.repeat(64),
      prefixHash: 'p'.repeat(64),
    },
    ...{ dtype: 'f16', layers: 24, tokens: 512, bytes: BYTES, formatVersion: 1, label: `Document ${i}` },
    ...{
      pinned: 0,
      hits: 1,
      createdAt: i,
      lastUsedAt: i,
      class: CLASSES[i % CLASSES.length] ?? '',
      order: i,
      offset: 0,
    },
  };
}
