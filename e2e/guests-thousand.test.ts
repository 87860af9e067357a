/** A window and three command lines on one data folder: concurrent operations, with nothing lost or duplicated. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  chunkFiles,
  DOCUMENTS,
  QUESTION,
  removeDir,
  ROOT,
  runCli,
  tempDir,
  writeFiles,
} from './cli-support.ts';
import { runAsGuest } from './support/in-process.ts';
import { FULL } from './support/full.ts';
import { readyData } from './support/ready-data.ts';
import { enter, serve, WindowCalls } from './support/served-window.ts';

/** Of the window and the command lines together. */
const OPERATIONS = FULL ? 1000 : 100;

const BUILT = existsSync(join(ROOT, 'out', 'renderer', 'index.html'));

let dir: string;
beforeAll(() => {
  dir = tempDir();
});
afterAll(() => removeDir(dir));

/** Repeats a window's operations `count` times; returns the conversations that it created. */
async function useWindow(window: WindowCalls, count: number): Promise<string[]> {
  const made: string[] = [];
  for (let i = 0; i < count; i++) {
    if (i % 5 === 0) made.push((await window.call('chat.create', {})).id);
    if (i % 5 === 1) await window.call('search.query', { text: QUESTION });
    if (i % 5 === 2) await window.call('libraries.list', {});
    if (i % 5 === 3) {
      const { items } = await window.call('cache.entries', { offset: 0, limit: 3 });
      const keys = items.map(({ key }) => key);
      if (keys.length > 0) await window.call('cache.pin', { selection: { keys }, pinned: i % 2 === 0 });
    }
    if (i % 5 === 4) await window.call('documents.list', { libraryId: '1', offset: 0, limit: 10 });
  }
  return made;
}

/** A command line's operations: each of these in turn, every twentieth in a separate process. */
async function useCommandLine(data: string, libraries: readonly string[], seed: number, count: number) {
  for (let i = 0; i < count; i++) {
    const library = libraries[(i + seed) % libraries.length]!;
    const few = ['--max-tokens', '2', '--json'];
    const commands = [
      ['ask', '--library', library, ...few, QUESTION],
      ['cache', 'ls', '--json'],
      ['cache', 'evict', '--bytes', '1'],
      ['ask', '--library', library, '--no-precompute', ...few, 'Who sells tea?'],
      ['cache', 'verify', '--json'],
      ['analyse', join(library, 'mara.md'), 'Sum it up.', ...few],
      ['cache', 'ls'],
    ];
    const args = commands[(i + seed) % commands.length]!;
    const done = await (i % 20 === 19 ? runCli([...args, '--data', data]) : runAsGuest(data, args));
    expect(done.code, `${args.join(' ')}: ${done.stderr}`).toBe(0);
    if (args.includes('--json')) expect(() => JSON.parse(done.stdout) as unknown).not.toThrow();
  }
}

describe.skipIf(!BUILT)('one data folder', () => {
  test(`a window and three command lines, ${OPERATIONS} operations`, async () => {
    const data = await readyData(join(dir, 'data'));
    const libraries = ['one', 'two'].map((name) => writeFiles(join(dir, name), DOCUMENTS));
    const served = await serve(data);
    const window = await WindowCalls.open(served, await enter(served));
    const [made] = await Promise.all([
      useWindow(window, OPERATIONS * 0.4),
      ...[0, 1, 2].map((seed) => useCommandLine(data, libraries, seed, OPERATIONS * 0.2)),
    ]);

    const conversations = await window.call('chat.list', {});
    expect(conversations.map(({ id }) => id).toSorted()).toEqual(made.toSorted());
    const known = await window.call('libraries.list', {});
    expect(known.map(({ name, documents }) => [name, documents]).toSorted()).toEqual([
      [
        'Sample library',
        readdirSync(join(ROOT, 'resources', 'sample-library'), {
          recursive: true,
          withFileTypes: true,
        }).filter((entry) => entry.isFile()).length,
      ],
      ['one', 3],
      ['two', 3],
    ]);
    await vi.waitFor(
      async () =>
        expect(await window.call('queue.status', {})).toMatchObject({ waiting: 0, active: 0, failed: 0 }),
      { timeout: 60_000 },
    );
    window.close();
    served.child.kill('SIGINT');
    expect(await served.finished).toMatchObject({ code: 0, stderr: '' });

    const verified = await runCli(['cache', 'verify', '--json', '--data', data]);
    const { checked, ok, corrupt, missing } = JSON.parse(verified.stdout) as Record<string, unknown>;
    expect([verified.code, corrupt, missing]).toEqual([0, [], []]);
    expect(ok).toBe(checked);
    const { entries } = JSON.parse((await runCli(['cache', 'ls', '--json', '--data', data])).stdout) as {
      entries: { key: string }[];
    };
    expect(new Set(entries.map(({ key }) => key)).size).toBe(entries.length);
    expect(chunkFiles(data).size).toBe(entries.length);
    expect(entries.length).toBe(checked);
  });
});
