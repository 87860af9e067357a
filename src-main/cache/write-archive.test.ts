import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openZip, readJson } from '../platform/zip.ts';
import { entryName, MANIFEST_NAME, ManifestSchema, type ManifestChunk } from './archive-manifest.ts';
import { writeArchive } from './write-archive.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'kvasir-archive-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const pathOf = (key: string): string => join(dir, key);
const chunk = (digit: string, bytes = 300_000): ManifestChunk => {
  const key = digit.repeat(64);
  writeFileSync(pathOf(key), Buffer.alloc(bytes, digit));
  return { key, formatVersion: 1, bytes, label: digit };
};
const archive = (): string => join(dir, 'out.zip');

async function listed(): Promise<{ named: string[]; entries: string[] }> {
  const { zip, entries } = await openZip(archive(), (why) => new Error(why));
  try {
    const entry = entries.get(MANIFEST_NAME);
    if (!entry) throw new Error('no manifest');
    const { chunks } = ManifestSchema.parse(await readJson(zip, entry));
    const named = chunks.map(entryName);
    return { named, entries: [...entries.keys()].filter((name) => name !== MANIFEST_NAME) };
  } finally {
    zip.close();
  }
}

test('all chunks and their list are in the file', async () => {
  const chunks = [chunk('a'), chunk('b'), chunk('c')];
  expect(await writeArchive(archive(), chunks, pathOf)).toEqual(chunks);
  expect(await listed()).toEqual({ named: chunks.map(entryName), entries: chunks.map(entryName) });
});

test('one that is evicted meanwhile is left out, of the list too', async () => {
  const chunks = [chunk('a'), chunk('b'), chunk('c')];
  const evict = (done: number): void => {
    if (done === 1) rmSync(pathOf('b'.repeat(64)));
  };
  const there = await writeArchive(archive(), chunks, pathOf, { onProgress: evict });
  expect(there.map(({ label }) => label)).toEqual(['a', 'c']);
  expect(await listed()).toEqual({ named: there.map(entryName), entries: there.map(entryName) });
});

test('one that was cut, or cannot be read, is a typed failure, and nothing is left running', async () => {
  const cut = chunk('b');
  writeFileSync(pathOf(cut.key), 'short');
  await expect(writeArchive(archive(), [chunk('a'), cut], pathOf)).rejects.toMatchObject({
    code: 'CHUNK_CORRUPT',
  });
  rmSync(pathOf(cut.key));
  mkdirSync(pathOf(cut.key));
  await expect(writeArchive(archive(), [chunk('a'), cut], pathOf)).rejects.toMatchObject({
    code: 'CHUNK_CORRUPT',
  });
});

test('it stops on request, and when the file cannot be written', async () => {
  const abort = new AbortController();
  const stop = (done: number): void => {
    if (done === 1) abort.abort();
  };
  const run = { signal: abort.signal, onProgress: stop };
  const chunks = [chunk('a'), chunk('b')];
  await expect(writeArchive(archive(), chunks, pathOf, run)).rejects.toMatchObject({ code: 'ABORTED' });
  await expect(writeArchive(join(dir, 'none', 'out.zip'), chunks, pathOf)).rejects.toMatchObject({
    code: 'ENOENT',
  });
});
