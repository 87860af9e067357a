/** Stored KV in a second folder, through the command line, with the real engine. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CacheFolders } from '../src-shared/contract/cache.ts';
import { withApp } from '../tools/faults/disk/check.ts';
import { hasLayer, readCalls, withFault } from '../tools/faults/disk/layer.ts';
import { expectFailure, removeDir, ROOT, runCli, tempDir } from './cli-support.ts';
import { runHere } from './support/in-process.ts';

/** A part of the sample library: a third of its KV. */
const LIBRARY = join(ROOT, 'resources', 'sample-library', 'people');
const QUESTION = 'What drink does Ines Brook like best?';

let dir: string;
let big: string;
const command = (...args: string[]): string[] => ['--data', join(dir, 'data'), 'cache', ...args];
const cache = (...args: string[]) => runHere(command(...args));

interface Asked {
  text: string;
  library: { precomputed: { computed: number } };
}

async function ask(): Promise<{ text: string; computed: number }> {
  const { code, stdout, stderr } = await runHere([
    ...['--data', join(dir, 'data'), 'ask', QUESTION],
    ...['--library', LIBRARY, '--json'],
  ]);
  expect(code, stderr).toBe(0);
  const { text, library } = JSON.parse(stdout) as Asked;
  return { text, computed: library.precomputed.computed };
}

async function folders(): Promise<CacheFolders['folders']> {
  return (JSON.parse((await cache('folders', '--json')).stdout) as CacheFolders).folders;
}

/** As in the window: there is no command for it. */
async function pinAll(pinned: boolean): Promise<void> {
  await withApp(join(dir, 'data'), (_, client) =>
    client.call('cache.pin', { selection: { all: true }, pinned }),
  );
}

function files(folder: string): number {
  return readdirSync(folder, { recursive: true }).filter((name) => String(name).endsWith('.kvc')).length;
}

beforeAll(() => {
  dir = tempDir();
  big = join(dir, 'big');
  mkdirSync(big);
});

afterAll(() => removeDir(dir));

test('chunks that do not fit are moved to an added folder, and are read from there', async () => {
  const first = await ask();
  expect(first.computed).toBeGreaterThan(10);
  const added = await cache('add-folder', big, '--budget', '1GB', '--price', '0.02');
  expect(added.stdout).toContain(big);
  const settings = join(dir, 'data', 'settings.json');
  const [own] = await folders();
  const half = {
    ...(JSON.parse(readFileSync(settings, 'utf8')) as object),
    diskBudgetBytes: Math.ceil(own!.bytes / 2),
  };
  writeFileSync(settings, JSON.stringify(half));
  expect(await ask()).toEqual({ text: first.text, computed: 0 });
  const [fast, slow] = await folders();
  expect(slow).toMatchObject({ path: big, state: 'ready', pricePerGb: 0.02 });
  expect(slow!.chunks).toBeGreaterThan(5);
  expect(fast!.bytes).toBeLessThanOrEqual(half.diskBudgetBytes);
  expect(files(big)).toBe(slow!.chunks);
  const verified = await cache('verify');
  expect(verified.stdout).toMatch(
    new RegExp(`^${fast!.chunks + slow!.chunks} of ${fast!.chunks + slow!.chunks} `),
  );
  const exported = await cache('export', '--library', LIBRARY, join(dir, 'all.zip'));
  expect(exported.stdout).toMatch(new RegExp(`^Wrote ${first.computed} chunks`));
  expect((await cache('folders')).stdout).toMatch(/New chunks go to /);
});

test('while the folder is not connected its chunks are computed, and it is used again when it is back', async () => {
  const before = await ask();
  const inside = join(big, 'kvasir-cache');
  const stored = files(big);
  renameSync(inside, join(dir, 'unplugged'));
  expect((await folders())[1]).toMatchObject({ state: 'not-connected', chunks: stored });
  expect((await ask()).text).toBe(before.text);
  expect(existsSync(inside)).toBe(false);
  renameSync(join(dir, 'unplugged'), inside);
  expect((await folders())[1]).toMatchObject({ state: 'ready' });
  expect(await ask()).toEqual({ text: before.text, computed: 0 });
});

test('its budget and its price are changed, and what no longer fits is deleted', async () => {
  const [, before] = await folders();
  const { code, stderr } = await cache('change-folder', big, '--budget', '1MB', '--price', '0.05');
  expect(code, stderr).toBe(0);
  const [, changed] = await folders();
  expect(changed).toMatchObject({ budgetBytes: 1e6, pricePerGb: 0.05 });
  expect(changed!.bytes).toBeLessThanOrEqual(1e6);
  expect(changed!.chunks).toBeLessThan(before!.chunks);
  expect(files(big)).toBe(changed!.chunks);
  await cache('change-folder', big, '--budget', '1GB');
  expect((await ask()).computed).toBeGreaterThan(0);
  const [, after] = await folders();
  expect(after).toMatchObject({ budgetBytes: 1e9, pricePerGb: 0.05 });
  expect(after!.chunks).toBeGreaterThan(changed!.chunks);
  expectFailure(await cache('change-folder', dir, '--budget', '1GB'), 'NOT_FOUND');
});

test('a folder taken out of settings.json keeps its files and its pins, and the next command says so', async () => {
  await pinAll(true);
  const [, before] = await folders();
  const settings = join(dir, 'data', 'settings.json');
  const { cacheFolders, ...others } = JSON.parse(readFileSync(settings, 'utf8')) as Record<string, unknown>;
  expect(cacheFolders).toHaveLength(1);
  writeFileSync(settings, JSON.stringify(others));
  const { stderr } = await cache('folders');
  expect(stderr).toContain(`a cache folder that holds ${before!.chunks} chunks (${before!.chunks} pinned)`);
  expect(files(big)).toBe(before!.chunks);
  await cache('add-folder', big, '--budget', '1GB', '--price', '0.05');
  const [, again] = await folders();
  expect(again).toMatchObject({ state: 'ready', chunks: before!.chunks });
  expect((await cache('folders')).stderr).toBe('');
});

test('removing the folder is refused if pinned chunks fit nowhere else, and nobody can be asked', async () => {
  const [, before] = await folders();
  const refused = await cache('remove-folder', big);
  expectFailure(refused, 'BAD_ARGUMENT', 2);
  expect(refused.stderr).toMatch(/loses \d+ pinned chunks \([\d.]+ MB\): they fit in no other folder\./);
  expect(refused.stderr).toContain('--yes');
  const [, after] = await folders();
  expect(after).toMatchObject({ chunks: before!.chunks, budgetBytes: before!.budgetBytes });
  await pinAll(false);
});

test('removing the folder leaves nothing there', async () => {
  const [, { chunks } = { chunks: 0 }] = await folders();
  await pinAll(true);
  const log = join(dir, 'calls');
  const logged = hasLayer() ? withFault(realpathSync(dir), log) : {};
  const { stdout } = await runCli(command('remove-folder', big, '--yes'), logged);
  const [, moved, deleted] = /^Moved (\d+) chunks, deleted (\d+)\.$/m.exec(stdout) ?? [];
  expect(Number(moved) + Number(deleted)).toBe(chunks);
  expect(readdirSync(big)).toEqual([]);
  expect(await folders()).toHaveLength(1);
  expectFailure(await cache('remove-folder', big), 'NOT_FOUND');
  if (!hasLayer()) return;
  // Until the index is flushed, a power cut may bring back its entries, whose folder would count as not connected for good.
  const calls = readCalls(log).map(({ name, path }) => `${name} ${basename(path)}`);
  const before = calls.slice(0, calls.indexOf('unlink folder.json'));
  expect(before).not.toEqual([]);
  expect(before.findLast((call) => call.endsWith('index.db-wal'))).toBe('fsync index.db-wal');
});
