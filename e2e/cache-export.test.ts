/** One machine's cache is exported to another in a file: two data folders, the command line and the real engine. */
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectFailure, removeDir, ROOT, tempDir } from './cli-support.ts';
import { runHere } from './support/in-process.ts';

/** A part of the sample library: a third of its KV. */
const LIBRARY = join(ROOT, 'resources', 'sample-library', 'people');
const QUESTION = 'What drink does Ines Brook like best?';

let dir: string;
const at = (name: string): string => join(dir, name);
const cache = (data: string, ...args: string[]) => runHere(['--data', at(data), 'cache', ...args]);
const ask = async (data: string) =>
  runHere(['--data', at(data), 'ask', QUESTION, '--library', LIBRARY, '--json']);

/** Number of chunks that were computed for a question. */
function computed({ stdout }: { stdout: string }): number {
  return (JSON.parse(stdout) as { library: { precomputed: { computed: number } } }).library.precomputed
    .computed;
}

interface CacheListing {
  entries: { key: string; kind: string }[];
}

async function chunksOf(data: string): Promise<string[]> {
  const { stdout } = await cache(data, 'ls', '--json');
  const { entries } = JSON.parse(stdout) as CacheListing;
  return entries
    .filter(({ kind }) => kind === 'chunk')
    .map(({ key }) => key)
    .sort();
}

beforeAll(async () => {
  dir = tempDir();
  const asked = await ask('first');
  expect(asked.code).toBe(0);
  expect(computed(asked)).toBeGreaterThan(10);
  const exported = await cache('first', 'export', '--library', LIBRARY, at('shared.zip'));
  expect(exported.stderr).toMatch(/derived from the documents/);
  expect(exported.code).toBe(0);
});

afterAll(() => removeDir(dir));

test('the second machine computes nothing after the import, and gives the same answer', async () => {
  const keys = await chunksOf('first');
  expect(keys.length).toBeGreaterThan(10);
  const imported = await cache('second', 'import', at('shared.zip'));
  expect(imported.stdout).toMatch(new RegExp(`^Added ${keys.length} chunks, .*\\.$`, 'm'));
  expect(await chunksOf('second')).toEqual(keys);
  const [first, second] = [await ask('first'), await ask('second')];
  expect(computed(second)).toBe(0);
  const textOf = ({ stdout }: { stdout: string }): unknown => (JSON.parse(stdout) as { text: unknown }).text;
  expect(textOf(second)).toEqual(textOf(first));
  const again = await cache('second', 'import', at('shared.zip'));
  expect(again.stdout).toMatch(
    new RegExp(`^Added 0 chunks, 0 B; ${keys.length} were there already\\.$`, 'm'),
  );
});

test('a damaged chunk is not stored, and the others are', async () => {
  const file = readFileSync(at('shared.zip'));
  // The entries are not compressed, so the middle of the file is KV.
  const middle = Math.floor(file.length / 2);
  file.writeUInt8(file.readUInt8(middle) ^ 1, middle);
  writeFileSync(at('damaged.zip'), file);
  const { code, stdout, stderr } = await cache('third', 'import', at('damaged.zip'));
  expect(code).toBe(1);
  expect(stderr).toMatch(/^Not added: [0-9a-f]{64}: /m);
  expect(stdout).toMatch(new RegExp(`^Added ${(await chunksOf('first')).length - 1} chunks`, 'm'));
});

test('a full budget stops the import with a message, and evicts nothing', async () => {
  cpSync(at('first'), at('small'), { recursive: true });
  rmSync(at('small/cache'), { recursive: true });
  writeFileSync(at('small/settings.json'), JSON.stringify({ diskBudgetBytes: 2_000_000 }));
  expectFailure(await cache('small', 'import', at('shared.zip')), 'CACHE_FULL');
  const { stdout } = await cache('small', 'ls', '--json');
  const { stats } = JSON.parse(stdout) as { stats: { entries: number; evictions: number } };
  expect(stats.entries).toBeGreaterThan(0);
  expect(stats.evictions).toBe(0);
});

test('a file that is not an export, and a folder that is not a library, are refused', async () => {
  writeFileSync(at('text.zip'), 'no archive');
  expectFailure(await cache('first', 'import', at('text.zip')), 'BACKUP_INVALID');
  expectFailure(await cache('first', 'import', at('nothing.zip')), 'BACKUP_INVALID');
  expectFailure(await cache('first', 'export', '--library', ROOT, at('other.zip')), 'LIBRARY_NOT_FOUND');
  expect(existsSync(at('other.zip'))).toBe(false);
});
