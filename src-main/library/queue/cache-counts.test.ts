import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Catalogue } from '../../catalogue/catalogue.ts';
import { chunkKey, type ChunkEntry } from '../../kvstore/store.ts';
import { CacheCounts } from './cache-counts.ts';

const TARGET = {
  fingerprint: 'f'.repeat(64),
  chunkTokens: 3,
  prefix: Int32Array.of(1),
  dtype: 'f16' as const,
  blends: true,
};

/** A catalogue with one document of three chunks. */
function fixture(): { catalogue: Catalogue; document: { id: number; libraryId: number }; keys: string[] } {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-counts-'));
  const catalogue = Catalogue.open(join(dir, 'catalogue.sqlite'));
  onTestFinished(() => {
    catalogue.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const libraryId = catalogue.libraries.create('Docs');
  const root = catalogue.libraries.addRoot(libraryId, { kind: 'folder', path: dir, watched: false });
  catalogue.documents.queueFile(libraryId, root, { path: 'a.md', format: 'md', bytes: 1, mtimeMs: 1 });
  const id = catalogue.documents.ofPath(root, 'a.md')!.id;
  const set = catalogue.chunkTable.setId({ libraryId, ...TARGET });
  const texts = [1, 2, 3].map((n) => Int32Array.of(n, n, n));
  for (const [i, tokens] of texts.entries())
    catalogue.chunkTable.insert(set, id, {
      ordinal: i,
      start: i,
      end: i + 1,
      title: 'a',
      text: 'x',
      tokens,
      lead: new Int32Array(),
    });
  catalogue.chunkTable.finish(set, id, 'hash', 3, 9);
  const keys = texts.map((tokens) => chunkKey({ ...TARGET, tokens }));
  return { catalogue, document: { id, libraryId }, keys };
}

test('counting again reads no tokens of what is stored: keys are kept', async () => {
  const { catalogue, document, keys } = fixture();
  const stored = new Set(keys.slice(0, 2));
  const entry = (key: string): ChunkEntry | undefined =>
    stored.has(key) ? ({ bytes: 10 } as ChunkEntry) : undefined;
  const away = new Set<string>();
  const counts = new CacheCounts(catalogue, { entry, isAway: (key) => away.has(key) });
  expect(await counts.count(document, TARGET)).toEqual({ changed: true, missingTokens: 3 });
  stored.add(keys[2] ?? '');
  const read = vi.spyOn(catalogue.chunkTable, 'tokens');
  expect(await counts.count(document, TARGET)).toEqual({ changed: true, missingTokens: 0 });
  expect(read).not.toHaveBeenCalled();
  stored.clear();
  expect(await counts.count(document, TARGET)).toEqual({ changed: true, missingTokens: 9 });
  for (const key of keys) away.add(key); // their folder is not connected
  expect(await counts.count(document, TARGET)).toEqual({ changed: true, missingTokens: 0 });
});
